import { NextResponse } from 'next/server'
import { countServed, paid } from '../../shop.js'

const handler = async () => {
  countServed()
  return NextResponse.json({ bought: '/cheap' })
}

export const GET = paid({ price: '1000' }, handler)
