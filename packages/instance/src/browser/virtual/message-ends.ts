/** Chromium writes `id` or `method` first and `sessionId` last, so most messages need no parsing. */
const answerHead = /^\{"id":(\d{1,15}),/;
const eventHead = /^\{"method":"(([A-Za-z]{1,40})\.[A-Za-z]{1,100})","params":\{/;
/** Inside a string, the quotes would have backslashes. A single brace follows, so that it belongs to the message itself. */
const sessionTail = /,"sessionId":"([^"\\]{1,100})"\}$/;
const tailCharacters = 120;

export interface AnswerHead {
  readonly id: number;
  /** What follows the id. */
  readonly restAt: number;
}

/** @returns `undefined` if the message must be parsed. */
export function answerHeadOf(text: string): AnswerHead | undefined {
  const [head, id] = answerHead.exec(text) ?? [];
  return head === undefined ? undefined : { id: Number(id), restAt: head.length };
}

export interface EventEnds {
  readonly domain: string;
  readonly sessionId: string;
}

/** Recognizes an event in a session. @returns `undefined` if the message must be parsed. */
export function eventEndsOf(text: string): EventEnds | undefined {
  const domain = eventHead.exec(text)?.[2];
  const sessionId = domain === undefined ? undefined : sessionTail.exec(text.slice(-tailCharacters))?.[1];
  return domain === undefined || sessionId === undefined ? undefined : { domain, sessionId };
}
