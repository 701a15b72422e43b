import { limits } from '../../packages/facilitator/dist/config/limits.js'
import { openApiDocument } from '../../packages/facilitator/dist/http/document.js'

const row = (cells) => `| ${cells.join(' | ')} |`
const document = openApiDocument()
const { schemas } = document.components
const nameOf = (ref) => ref.replace('#/components/schemas/', '')

function typeOf(schema) {
  if (schema.$ref) {
    const name = nameOf(schema.$ref)
    if (name === 'Reason') return '[Reason](reasons.md)'
    const { properties, enum: values } = schemas[name]
    return properties || values ? `[${name}](#${name.toLowerCase()})` : name
  }
  if (schema.enum) return schema.enum.map((value) => `\`${value}\``).join(', ')
  if (schema.type === 'array') return `list of ${typeOf(schema.items)}`
  if (schema.properties) {
    const inner = Object.entries(schema.properties).map(([name, field]) => `\`${name}\` ${typeOf(field)}`)
    return `object: ${inner.join('; ')}`
  }
  return schema.type
}

function fieldsOf(name) {
  const { description, properties = {}, required = [], enum: values } = schemas[name]
  if (values) return `### ${name}\n\n${description}\n\n${values.map((value) => `\`${value}\``).join(' · ')}\n`
  const rows = Object.entries(properties).map(([field, schema]) =>
    row([
      `\`${field}\``,
      typeOf(schema),
      required.includes(field) ? 'always' : 'sometimes',
      schema.description ?? '',
    ]),
  )
  return `### ${name}\n\n${description}\n\n| field | type | present | |\n|---|---|---|---|\n${rows.join('\n')}\n`
}

function operationsOf(tag) {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { tags }]) => tags.includes(tag))
      .map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })),
  )
}

/** The schemas of an answer and the schemas inside them, each once. */
function shown(list) {
  const names = new Set()
  const visit = (text) => {
    for (const [, name] of text.matchAll(/#\/components\/schemas\/(\w+)/g)) {
      const { properties, enum: values } = schemas[name]
      if (names.has(name) || name === 'Reason' || (!properties && !values)) continue
      names.add(name)
      visit(JSON.stringify(schemas[name]))
    }
  }
  for (const { requestBody = {}, responses } of list) visit(JSON.stringify([requestBody, responses[200]]))
  return [...names]
}

/** The tables of one surface. */
function tablesOf(tag) {
  const list = operationsOf(tag)
  const rows = list.map(({ method, path, summary, requestBody, responses }) => {
    const media = Object.values(responses[200].content)[0]
    const answer = media.schema ? typeOf(media.schema) : 'text'
    const refusals = Object.keys(responses).filter((status) => status !== '200' && status !== 'default')
    const body = requestBody && typeOf(requestBody.content['application/json'].schema)
    return { cells: [`\`${method} ${path}\``, summary, answer, refusals.join(', ')], body }
  })
  const queries = list
    .filter(({ parameters = [] }) => parameters.some((parameter) => parameter.in === 'query'))
    .flatMap(({ path, parameters }) =>
      parameters
        .filter((parameter) => parameter.in === 'query')
        .map(({ name, description, schema }) =>
          row([`\`${path}\``, `\`${name}\``, typeOf(schema), description]),
        ),
    )
  return { list, rows, queries }
}

/** docs/reference/admin-api.md */
export function renderAdminApi() {
  const { list, rows, queries } = tablesOf('admin')
  return `<!-- Generated from packages/facilitator/src/http by \`npm run gen\`. Do not edit. -->

# Administrative surface

Every path below \`/admin\` needs \`Authorization: Bearer <token>\` with the value of \`SVC_ADMIN_TOKEN\`. Without the token, or
with another one, every path answers 401, even one that does not exist. If no token is set, which is allowed for a local
daemon on loopback, all paths answer 401. A caller that goes on without it waits longer for each 401.
\`svc-facilitator admin …\` and the [dashboard](../guides/operate.md#the-dashboard) call the same paths. \`GET /openapi.json\` gives
the whole API as OpenAPI 3.1.

| path | what | answer | refusals |
|---|---|---|---|
${rows.map(({ cells }) => row(cells)).join('\n')}

A pause outlives a restart; \`resume\` ends it. The daemon retries mints by itself, with
growing pauses; \`retry\` tries one in the next round, without its pause. The field \`waiting\` of a payment says why it is not
minted yet, and \`mints\` of the status sums these up.

## Queries

| path | key | value | |
|---|---|---|---|
${queries.join('\n')}

Lists are newest first. If there are more entries, the answer has \`next\`; send it as \`after\` to get the next page.
Payments issued meanwhile do not shift the pages.

## Answers

${shown(list).map(fieldsOf).join('\n')}`
}

/** docs/reference/history-api.md */
export function renderHistoryApi() {
  const { list, rows, queries } = tablesOf('history')
  return `<!-- Generated from packages/facilitator/src/http by \`npm run gen\`. Do not edit. -->

# Surface of participants

The payment history, for the payer and the provider of the [environment](environment.md). Without a configured history every
path below \`/history\` answers 404. With one, every path needs \`Authorization: Bearer <token>\` with an identity token, except
the login and the two paths of the issuer; without a good token they answer 401 with its reason, even those that do not exist.
A token comes from a wallet login or from \`svc-facilitator history token\`, and is good for 15 minutes. What each participant
sees is decided in [ADR 0015](../adr/0015-who-sees-what.md): a field that is hidden is absent.

| path | what | body | answer | refusals |
|---|---|---|---|---|
${rows.map(({ cells: [path, what, answer, refusals], body = '' }) => row([path, what, body, answer, refusals])).join('\n')}

A login without both wallets, and a proof without an issuer, answer 404. A payer without an address gets 400 \`nonce_required\`
for lists, totals and exports. Each participant has \`daemon.rate_limit_per_min\` requests a minute, and at most ${limits.historyExportsAtOnceMax} exports at
the same time, each for ${limits.historyExportMsMax / 60_000} minutes at most; each address has ${limits.historyLoginsPerMin} login challenges and logins a minute together. An export that
breaks off before its end (no last chunk, and JSON without its last bracket) is not whole.

## Queries

| path | key | value | |
|---|---|---|---|
${queries.join('\n')}

Payments are listed under the time when their money came, and before that under the time of their challenge. If there are more,
the answer has \`next\`; send it as \`cursor\` to get the next page.

## Bodies and answers

${shown(list).map(fieldsOf).join('\n')}`
}
