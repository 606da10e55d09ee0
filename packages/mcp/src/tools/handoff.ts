import { cancelHandoff, getHandoff, requestHandoff } from "@shoal/contract";
import type { Handoff } from "@shoal/schemas";
import { ApiError } from "@shoal/transport";
import * as z from "zod/mini";
import { ownField } from "../base/fields.ts";
import { defineTool, text, type Tool, type ToolAnswer, type ToolCall } from "../base/tool.ts";

/** One request; the tool repeats it while the client follows its progress. */
const waitSeconds = 20;
/** Below the usual timeout of calls without progress. */
const longestWaitMs = 45_000;

const endings: Readonly<Record<string, string>> = {
  released: "The user returned control.",
  expired: "The user did not return control in time. You have control again.",
  canceled: "The handoff was canceled. You have control again.",
};

function endedAnswer({ note, status }: Handoff): ToolAnswer {
  const said = note === null ? "" : ` Their note: ${JSON.stringify(note)}`;
  return { content: [text(`${endings[status] ?? status}${said} Call snapshot to see the page.`)] };
}

function linkAnswer({ expires_at, url }: Handoff): ToolAnswer {
  return {
    content: [
      text(
        `Give this link to the user only; it controls the browser: ${url ?? ""}\nInput is paused until the user returns control, at most until ${expires_at}. Call hand_over again without a message to wait for the user.`,
      ),
    ],
  };
}

async function currentOf(id: string, { options, transport }: ToolCall): Promise<Handoff | undefined> {
  try {
    const latest = await transport.call(getHandoff, { params: { id } }, options);
    return latest.ended_at === null ? latest : undefined;
  } catch (error) {
    if (ApiError.isInstance(error) && error.status === 404) return undefined;
    throw error;
  }
}

async function waited(id: string, begun: Handoff, call: ToolCall): Promise<ToolAnswer> {
  const { options, report, transport } = call;
  const until = performance.now() + longestWaitMs;
  const query = { handoff_id: begun.id, wait_seconds: waitSeconds };
  report?.(`Waiting for you: open ${begun.url ?? ""}`);
  for (;;) {
    const handoff = await transport.call(getHandoff, { params: { id }, query }, options);
    if (handoff.ended_at !== null) return endedAnswer(handoff);
    if (report === undefined && performance.now() >= until) return linkAnswer(handoff);
  }
}

/** A client that cancels its call does not need the person any more. */
async function cancelOnAbort<Value>(
  id: string,
  { options, transport }: ToolCall,
  work: Promise<Value>,
): Promise<Value> {
  try {
    return await work;
  } catch (error) {
    if (options.signal?.aborted === true)
      await transport.call(cancelHandoff, { params: { id } }).catch(() => undefined);
    throw error;
  }
}

export const handoffTools: readonly Tool[] = [
  defineTool<{ readonly message?: string | undefined }>({
    name: "hand_over",
    group: "handoff",
    title: "Hand over to a person",
    description:
      "Ask the user to act in this browser, for CAPTCHAs, logins and payments. Waits until they return control, or returns a link for them.",
    effect: "changes",
    calls: [getHandoff, requestHandoff],
    fields: ownField("message", z.optional(z.string().check(z.minLength(1), z.maxLength(2000))), "Task for the user"),
    async run({ message = "Please continue in this browser." }, call) {
      const { options, report, transport } = call;
      const id = await call.browser();
      const current = await currentOf(id, call);
      if (current !== undefined) return cancelOnAbort(id, call, waited(id, current, call));
      const begun = await transport.call(requestHandoff, { params: { id }, body: { message } }, options);
      // Without progress, the user would not see the link before the end of the call.
      return report === undefined ? linkAnswer(begun) : cancelOnAbort(id, call, waited(id, begun, call));
    },
  }),
];
