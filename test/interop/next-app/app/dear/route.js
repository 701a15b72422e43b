import { NextResponse } from 'next/server'
import { countServed } from '../../shop.js'

/** Paid for in `proxy.js`. */
export const GET = async () => {
  countServed()
  return NextResponse.json({ bought: '/dear' })
}
