import { setTimeout as delay } from "node:timers/promises";
import pTimeout from "p-timeout";
import type { CdpConnection } from "../cdp/cdp-connection.ts";

/** A browser reports a policy reload within three seconds. */
const reloadTimeoutMs = 15_000;
const loadEveryMs = 20;

/**
 * True when the page chrome://policy shows the revision, `false` until it has loaded, `blocked` when a policy forbids
 * it.
 */
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
 * Chromium's own watch of policy files takes minutes. Returns whether it confirmed.
 * @param revision - value of the policy `ShoalRevision`, which Chromium shows although it does not know it.
 */
export async function reloadPolicies(cdp: CdpConnection, revision: string): Promise<boolean> {
  const { targetId } = await cdp.send("Target.createTarget", { url: "chrome://policy/", hidden: true });
  const ended = new AbortController();
  try {
    const confirmed = askIn(cdp, targetId, reload(revision), ended.signal);
    return await pTimeout(confirmed, { milliseconds: reloadTimeoutMs });
  } catch {
    return false;
  } finally {
    ended.abort();
    await cdp.send("Target.closeTarget", { targetId }).catch(() => undefined);
  }
}

async function askIn(cdp: CdpConnection, targetId: string, expression: string, signal: AbortSignal): Promise<boolean> {
  const { sessionId } = await cdp.send("Target.attachToTarget", { targetId, flatten: true });
  while (!signal.aborted) {
    const { result } = await cdp.send(
      "Runtime.evaluate",
      { expression, awaitPromise: true, returnByValue: true },
      sessionId,
    );
    if (result.value === true) return true;
    if (result.value === "blocked") return false;
    await delay(loadEveryMs);
  }
  return false;
}
