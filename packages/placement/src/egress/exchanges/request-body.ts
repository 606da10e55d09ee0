import type { ExchangePlayer } from "../../interface/exchanges.ts";
import type { IncomingMessage, ServerResponse } from "node:http";
import { BodyDigest } from "./body-digest.ts";

/** Longer bodies cannot pass on after a look at them. */
export const maxHeldBytes = 8 * 2 ** 20;
/** Of all running requests of a session. */
export const maxHeldPerSession = 16 * 2 ** 20;

/** Bytes by session. */
const heldBy = new WeakMap<ExchangePlayer, number>();

export interface ReadBody {
  readonly digest: string;
  /** `undefined`: not held, or longer than a limit. */
  readonly bytes: Buffer | undefined;
}

/** Reads a body to its end. If the player passes requests on, holds its bytes until the response closes. @throws if the client breaks off. */
export async function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  player: ExchangePlayer,
): Promise<ReadBody> {
  const digest = new BodyDigest(request.headers["content-type"]);
  let held: Buffer[] | undefined = player.passes ? [] : undefined;
  let length = 0;
  const count = (bytes: number): number => {
    length += bytes;
    const all = (heldBy.get(player) ?? 0) + bytes;
    heldBy.set(player, all);
    return all;
  };
  const release = (): void => {
    held = undefined;
    count(-length);
  };
  response.once("close", release);
  for await (const chunk of request as AsyncIterable<Buffer>) {
    digest.add(chunk);
    // It may have closed.
    if (held === undefined || response.closed) continue;
    held.push(chunk);
    if (count(chunk.length) > maxHeldPerSession || length > maxHeldBytes) release();
  }
  return { digest: digest.result(), bytes: held && Buffer.concat(held) };
}
