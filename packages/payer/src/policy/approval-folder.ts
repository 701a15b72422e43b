/**
 * Questions in the state folder, answered by `svc-pay approve` in another terminal. An answer carries the
 * hash of what the human saw, and counts only for a payment with that hash.
 */
import { readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, Json, parseChallengeNonce } from '@svc-zerc20/protocol'
import { errorCode, makeFolder, writeAside } from '../state/files.js'
import type { ApprovalRequest, Approver } from './approval.js'

const pollMs = 200

export function createFolderApprover({
  folder,
  clock,
  onAsked = () => undefined,
}: {
  readonly folder: string
  readonly clock: Clock
  /** Called once the question can be answered. */
  readonly onAsked?: (request: ApprovalRequest) => void
}): Approver {
  return async (request, signal) => {
    const { question, answer } = pathsOf(folder, request.challengeNonce)
    await put(folder, question, request)
    try {
      onAsked(request)
      while (!signal.aborted) {
        const found = await readJson(answer)
        // The answer to an earlier question about the same payment came too late, and counts for nothing.
        if (found?.until === request.until) return found.terms === request.terms && found.isApproved === true
        await clock.sleep(pollMs, signal)
      }
      return false
    } finally {
      await rm(question, { force: true })
      await rm(answer, { force: true })
    }
  }
}

/** The questions that can still be answered, oldest first. */
export async function listQuestions(folder: string, clock: Clock): Promise<readonly ApprovalRequest[]> {
  const names = await readdir(folder).catch((error) => {
    if (errorCode(error) === 'ENOENT') return []
    throw error
  })
  const found = await Promise.all(
    names.filter((name) => name.endsWith('.question')).map((name) => readJson(join(folder, name))),
  )
  return found
    .filter(isRequest)
    .filter(({ until }) => until > clock.now())
    .sort((a, b) => a.until - b.until)
}

/** Longest wait for the process that asked to take its answer. */
const takenMsMax = 3_000

/**
 * Answers exactly the question that was shown. Returns false when nobody waits for the answer any more: the process that
 * asked takes its question away once it has the answer, and one that is gone leaves it.
 */
export async function answerQuestion(
  folder: string,
  { challengeNonce, terms, until }: ApprovalRequest,
  isApproved: boolean,
  clock: Clock,
): Promise<boolean> {
  const { question, answer } = pathsOf(folder, challengeNonce)
  if (until <= clock.now() || (await readJson(question)) === undefined) return false
  await put(folder, answer, { terms, until, isApproved })
  for (let waitedMs = 0; waitedMs < takenMsMax; waitedMs += pollMs) {
    if ((await readJson(question)) === undefined) return true
    await clock.sleep(pollMs)
  }
  await rm(answer, { force: true })
  return false
}

const pathsOf = (folder: string, nonce: string) => ({
  question: join(folder, `${nonce}.question`),
  answer: join(folder, `${nonce}.answer`),
})

async function put(folder: string, path: string, value: object): Promise<void> {
  await makeFolder(folder)
  await rename(await writeAside(folder, JSON.stringify(value)), path)
}

async function readJson(path: string): Promise<Json.JsonObject | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'))
    return Json.isObject(value) ? value : {}
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    return {}
  }
}

const texts = [
  'terms',
  'method',
  'host',
  'url',
  'body',
  'network',
  'token',
  'payer',
  'amount',
  'remaining',
  'why',
]
const isRequest = (value: unknown): value is ApprovalRequest =>
  Json.isObject(value) &&
  parseChallengeNonce(value.challengeNonce) !== undefined &&
  texts.every((name) => typeof value[name] === 'string') &&
  typeof value.until === 'number'
