/** One picture for each step of a payment. Side by side their lines join. */
import { svg } from '../svg.js'
import type { StepName } from './journey.js'

const line = (d: string, kind = 'line') => svg('path', { d, class: kind })
const coin = (cx: number, cy: number) => [
  svg('circle', { cx, cy, r: 13, class: 'coin' }),
  line(`M${cx - 4} ${cy - 5}h8l-8 10h8`, 'mark'),
]
const dot = (cx: number, cy: number, kind: string) => svg('circle', { cx, cy, r: 6, class: kind })

const wayIn = () => line('M0 60h50', 'way')
const wayOut = () => line('M150 60h50', 'way')

const drawings: Record<StepName, () => SVGElement[]> = {
  // A wallet with a coin in it.
  offer: () => [
    wayOut(),
    line('M58 38a8 8 0 0 1 8-8h58v12M58 38v46a8 8 0 0 0 8 8h70V42H62a4 4 0 0 1-4-4z', 'shape'),
    ...coin(112, 67),
  ],
  // A flame in an address that exists once.
  burn: () => [
    wayIn(),
    wayOut(),
    svg('rect', { x: 58, y: 20, width: 84, height: 80, rx: 10, class: 'shape once' }),
    line('M99 30c3 14 20 20 20 38a19 19 0 0 1-38 0c0-9 5-13 7-20 4 3 6 7 6 11 5-6 7-16 5-29z', 'flame'),
  ],
  // A tree of transfers. Only the facilitator knows which leaf is this payment.
  root: () => [
    wayIn(),
    wayOut(),
    line('M70 62 55 94M70 62l15 32M130 62l-15 32M130 62l15 32M100 28l30 34'),
    line('M100 28 70 62l15 32', 'line mine'),
    dot(70, 62, 'dot mine'),
    dot(130, 62, 'dot'),
    dot(55, 94, 'dot'),
    dot(85, 94, 'dot mine'),
    dot(115, 94, 'dot'),
    dot(145, 94, 'dot'),
    svg('circle', { cx: 100, cy: 28, r: 9, class: 'dot top' }),
  ],
  // A lock that shows that something holds, and not what.
  proof: () => [
    wayIn(),
    wayOut(),
    line('M82 54V42a18 18 0 0 1 36 0v12'),
    svg('rect', { x: 68, y: 54, width: 64, height: 46, rx: 8, class: 'shape' }),
    line('M86 77l10 10 19-20', 'tick'),
  ],
  // A shop with a coin that was never in the wallet.
  mint: () => [
    wayIn(),
    line('M64 52v48h72V52', 'shape'),
    line('M66 24h68l12 28H54z', 'shape roof'),
    ...coin(100, 77),
  ],
}

export const pictureOf = (step: StepName): SVGElement =>
  svg('svg', { viewBox: '0 0 200 120', 'aria-hidden': 'true' }, ...drawings[step]())
