import { setTimeout as delay } from "node:timers/promises";
import type { CdpConnection } from "../cdp/pipe-connection.ts";

/** A browser that reads its policies again says so within three seconds. */
const reloadTimeoutMs = 15_000;
const loadEveryMs = 20;

/** Asks the page of policies to read them, and answers when it shows those of that revision; `false` until it has loaded; `blocked` where a policy forbids the page itself. */
const reload = (revision: string): string => `(() => {
  const { webUIListenerCallback } = globalThis.cr ?? {};
  if (location.protocol === "chrome-error:") return "blocked";
  if (location.href !== "chrome://policy/" || typeof webUIListenerCallback !== "function") return false;
  return new Promise((resolve) => {
    cr.webUIListenerCallback = (event, ...values) => {
      if (event === "policies-updated" && JSON.stringify(values).includes(${JSON.stringify(revision)})) setTimeout(resolve, 0, true);
      return webUIListenerCallback(event, ...values);
    };
    chrome.send("reloadPolicies");
  });
})()`;

/**
 * Has a full Chromium read its policies again; the files have to be written. Its own watch of them takes minutes.
 *
 * @param revision - value of the policy `ShoalRevision`, which Chromium does not know and shows all the same, in the files.
 * @returns whether it said that it has.
 */
export async function reloadPolicies(cdp: CdpConnection, revision: string): Promise<boolean> {
  const timeout = new AbortController();
  const late = delay(reloadTimeoutMs, false, { signal: timeout.signal }).catch(() => false);
  const { targetId } = await cdp.send("Target.createTarget", { url: "chrome://policy/", hidden: true });
  try {
    const { sessionId } = await cdp.send("Target.attachToTarget", { targetId, flatten: true });
    return await Promise.race([late, askIn(cdp, sessionId, reload(revision), () => timeout.signal.aborted)]);
  } catch {
    return false;
  } finally {
    timeout.abort();
    await cdp.send("Target.closeTarget", { targetId }).catch(() => undefined);
  }
}

async function askIn(cdp: CdpConnection, sessionId: string, expression: string, isLate: () => boolean): Promise<boolean> {
  while (!isLate()) {
    const { result } = await cdp.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true }, sessionId);
    if (result.value === true) return true;
    if (result.value === "blocked") return false;
    await delay(loadEveryMs);
  }
  return false;
}
