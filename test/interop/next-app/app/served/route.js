import { NextResponse } from 'next/server'

/** How often a handler ran. */
export const GET = async () => NextResponse.json({ served: globalThis.svcServed ?? 0 })

export const dynamic = 'force-dynamic'
