import { NextResponse } from 'next/server'
import { countServed, paid } from '../../shop.js'

const every = paid({ price: '1000' }, async () => {
  countServed()
  return NextResponse.json({ bought: '/every' })
})

export {
  every as DELETE,
  every as GET,
  every as HEAD,
  every as OPTIONS,
  every as PATCH,
  every as POST,
  every as PUT,
}
