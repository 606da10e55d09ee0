import { contract as native } from "@shoal/contract";
import { checkedBody } from "@shoal/router";
import { type Browser, type BrowserOrigin, type CreateBrowser, CreateProxy } from "@shoal/schemas";
import { RegionElsewhere } from "../../cluster/elsewhere.ts";
import { toBrowser, wishesOf } from "../../sessions/browsers/handlers.ts";
import type { WaitingLine } from "../../sessions/waiting/waiting-line.ts";
import type { DialectParts } from "./dialect.ts";
import type { NativeCalls } from "./native-calls.ts";

export interface WantedBrowser {
  readonly create: CreateBrowser;
  readonly origin: BrowserOrigin;
  /** Of this session alone. It is not stored. */
  readonly proxy?: CreateProxy | undefined;
}

interface Creation {
  readonly calls: NativeCalls;
  readonly signal: AbortSignal;
  /** Waits for a place until this time. */
  readonly waits?: { readonly line: WaitingLine; readonly untilMs: number };
}

/** Creates a session of a client of another service. @throws {ServiceError} as `browsers.create`. */
export async function createBrowserFor(
  parts: DialectParts,
  { create, origin, proxy: wanted }: WantedBrowser,
  { calls, signal, waits }: Creation,
): Promise<Browser> {
  const proxy = wanted && checkedBody(CreateProxy, wanted, "refuse");
  if (proxy !== undefined) {
    // The audit log has the first operation.
    await calls.admit(native.createBrowser, {});
    await calls.admit(native.createProxy, {});
  }
  return calls.run(native.createBrowser, { body: create, signal }, async ({ body, context }) => {
    const { projectId } = context;
    const wishes = { ...wishesOf(context, body), origin, ...(proxy && { proxy }) };
    const start = () => parts.sessions.create(projectId, body, signal, wishes);
    const view = await (waits ? waits.line.take(projectId, { signal, untilMs: waits.untilMs }, start) : start());
    if (view instanceof RegionElsewhere) throw view.toError();
    return toBrowser(view, context, parts.signer);
  });
}
