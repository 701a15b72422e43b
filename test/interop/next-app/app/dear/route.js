import { NextResponse } from 'next/server'

/** Paid for in `proxy.js`. */
export const GET = async () => NextResponse.json({ bought: '/dear' })
