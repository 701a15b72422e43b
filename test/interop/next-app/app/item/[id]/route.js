import { NextResponse } from 'next/server'
import { countServed, paid } from '../../../shop.js'

export const GET = paid({ price: '1000' }, async (_request, { params }) => {
  countServed()
  return NextResponse.json({ bought: (await params).id })
})
