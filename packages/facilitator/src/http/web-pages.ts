/**
 * The pages for operators and participants. They are the same for everybody and have no data in them: what they show is
 * asked for with the reader's own token, which no page keeps.
 */
import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { dashboard, history, style } from '#pages'
import type { Admission } from './admission.js'
import { packedText } from './packed-text.js'
import { sendRefusal } from './problem.js'

/** Only files of this origin, nothing inline but the one style, nothing from text, and no page around it. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  `style-src 'self' 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const headers = {
  'content-security-policy': policy,
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

type PageParts = {
  readonly title: string
  readonly script: string
  /** The content until the script draws over it: with the style in the page, the first paint waits for nothing else. */
  readonly shell: (noscript: string) => string
  readonly command: string
  readonly up?: string
}

const pageOf = ({ title, script, shell, command, up = '' }: PageParts) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${style}</style>
<script defer src="${up}${script}"></script>
</head>
<body>${shell(`<noscript><p>This page needs JavaScript. Without it: <code>${command}</code>.</p></noscript>`)}</body>
</html>
`

const dashboardPage = pageOf({
  title: 'Facilitator',
  script: 'dashboard.js',
  shell: (noscript) => `<main class="door card" data-key="door"><h1>Facilitator</h1>${noscript}</main>`,
  command: 'svc-facilitator admin',
})

const historyPage = pageOf({
  title: 'Payment history',
  script: 'history.js',
  shell: (noscript) =>
    `<header data-key="header"><strong>Payment history</strong></header><main data-key="out "><div class="top"><h1>Payment history</h1></div>${noscript}</main>`,
  command: 'svc-pay verify-statement',
  up: '../',
})

const types = { html: 'text/html', js: 'text/javascript' } as const
type Kind = keyof typeof types

export function registerWebPages(
  app: FastifyInstance,
  deps: {
    /** The operator's surface is open to its token. Without one the dashboard is not there either. */
    readonly hasDashboard: boolean
    /** A payment history is attached. */
    readonly hasHistory: boolean
    readonly admission: Pick<Admission, 'aside'>
  },
): void {
  const serve = (path: string, kind: Kind, text: string) => {
    const send = packedText(() => text)
    app.get(path, async (request, reply: FastifyReply) => {
      const refused = deps.admission.aside(request, 'page')
      if (refused) return sendRefusal(reply, refused)
      return send(request, reply.headers(headers).type(`${types[kind]}; charset=utf-8`))
    })
  }
  if (deps.hasDashboard) {
    serve('/dashboard/', 'html', dashboardPage)
    serve('/dashboard/dashboard.js', 'js', dashboard)
    app.get('/dashboard', async (request, reply) => {
      const refused = deps.admission.aside(request, 'page')
      return refused ? sendRefusal(reply, refused) : reply.redirect('dashboard/', 308)
    })
  }
  if (deps.hasHistory) {
    serve('/dashboard/history/', 'html', historyPage)
    serve('/dashboard/history.js', 'js', history)
  }
}
