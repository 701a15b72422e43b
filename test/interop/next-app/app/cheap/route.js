import { withX402 } from '@x402/next'
import { NextResponse } from 'next/server'
import { scheme, server } from '../../shop.js'

const handler = async () => NextResponse.json({ bought: '/cheap' })

export const GET = withX402(handler, { accepts: scheme.accept({ price: '1000' }) }, server)
