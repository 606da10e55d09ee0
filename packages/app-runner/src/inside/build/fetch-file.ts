import type { Channel } from "../../protocol/channel.ts";
import type { FetchTask } from "../../protocol/messages.ts";
import { BuildFailure } from "./build-failure.ts";
import { causeOf } from "./cause-of.ts";
import { nextStep } from "./next-step.ts";

/** Downloads a file; the service checks its hash. */
export async function fetchFile({ url, max_bytes }: FetchTask, channel: Channel): Promise<void> {
  const answer = await fetch(url).catch((error: unknown) => {
    const cause = causeOf(error);
    throw new BuildFailure(`${url} cannot be reached: ${cause}. ${nextStep(cause)}`.trimEnd());
  });
  if (!answer.ok || answer.body === null) throw new BuildFailure(`${url} answered ${String(answer.status)}.`);
  channel.send({ type: "file", name: "fetched" });
  let bytes = 0;
  for await (const chunk of answer.body) {
    bytes += chunk.length;
    if (bytes > max_bytes) throw new BuildFailure(`${url} has more than ${String(max_bytes)} bytes.`);
    for (let start = 0; start < chunk.length; start += 2 ** 18)
      await channel.sendBytes(Buffer.from(chunk.subarray(start, start + 2 ** 18)));
  }
  channel.send({ type: "file_end" });
}
