import { createLiveViewLink } from "@shoal/contract";
import { answerJson } from "@shoal/placement";
import * as z from "zod/mini";
import { noAnswer } from "../../sessions/instance-plane/no-answer.ts";
import type { DialectParts } from "./dialect.ts";
import type { NativeCalls } from "./native-calls.ts";

const targetsMs = 10_000;

/** Of an instance, which may be compromised. */
const Targets = z.array(
  z.object({
    id: z.string(),
    type: z.string(),
    title: z._default(z.string(), ""),
    url: z._default(z.string(), ""),
    faviconUrl: z._default(z.string(), ""),
  }),
);

/** The open pages of a running session. @throws {ServiceError} */
export async function pagesOf(calls: NativeCalls, sessionId: string): Promise<z.output<typeof Targets>> {
  const instance = await calls.instanceTo("browsers.cdp.connect", sessionId);
  try {
    const answer = await instance.request({
      method: "GET",
      path: "/json/list",
      signal: AbortSignal.timeout(targetsMs),
    });
    return Targets.parse(await answerJson(answer)).filter(({ type }) => type === "page");
  } catch (error) {
    throw noAnswer(error, sessionId);
  }
}

/** An address of the live view. @param seconds - until it expires. */
export async function liveViewLink(
  { sharedLink }: Pick<DialectParts, "sharedLink">,
  calls: NativeCalls,
  { id, seconds }: { readonly id: string; readonly seconds: number },
): Promise<string> {
  const body = { scope: "operate", expires_in_seconds: seconds } as const;
  const link = await calls.run(createLiveViewLink, { params: { id }, body }, sharedLink);
  return (link as { readonly url?: string }).url ?? "";
}
