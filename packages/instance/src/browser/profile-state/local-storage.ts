import type { CdpConnection } from "../cdp/cdp-connection.ts";
import type { SavedOrigin } from "./saved-state.ts";

const pageTimeoutMs = 10_000;

/** Only pages can write local storage: opens a page of each origin for a moment, without network access. */
export async function writeLocalStorage(cdp: CdpConnection, origins: readonly SavedOrigin[]): Promise<void> {
  const wanted = origins.filter(({ localStorage }) => localStorage.length > 0);
  if (wanted.length === 0) return;
  const { targetId } = await cdp.send("Target.createTarget", { url: "about:blank", background: true });
  const { sessionId } = await cdp.send("Target.attachToTarget", { targetId, flatten: true });
  const stop = cdp.on("Fetch.requestPaused", ({ requestId }, from) => {
    if (from !== sessionId) return;
    const body = Buffer.from("<!doctype html><title></title>").toString("base64");
    cdp
      .send(
        "Fetch.fulfillRequest",
        { requestId, responseCode: 200, responseHeaders: [{ name: "content-type", value: "text/html" }], body },
        sessionId,
      )
      .catch(() => undefined);
  });
  try {
    await cdp.send("Fetch.enable", { patterns: [{ urlPattern: "*" }] }, sessionId);
    await cdp.send("Page.enable", undefined, sessionId);
    for (const entry of wanted) await writeOrigin(cdp, sessionId, entry);
  } finally {
    stop();
    await cdp.send("Target.closeTarget", { targetId }).catch(() => undefined);
  }
}

async function writeOrigin(
  cdp: CdpConnection,
  sessionId: string,
  { origin, localStorage }: SavedOrigin,
): Promise<void> {
  const loaded = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => {
    loaded.reject(new Error(`A page of ${origin} could not be opened to fill its local storage.`));
  }, pageTimeoutMs);
  const stop = cdp.on("Page.loadEventFired", (_params, from) => {
    if (from === sessionId) loaded.resolve(undefined);
  });
  try {
    const { errorText } = await cdp.send("Page.navigate", { url: `${origin}/` }, sessionId);
    if (errorText !== undefined)
      throw new Error(`A page of ${origin} could not be opened to fill its local storage: ${errorText}.`);
    await loaded.promise;
  } finally {
    clearTimeout(timer);
    stop();
    loaded.promise.catch(() => undefined);
  }
  const entries = JSON.stringify(JSON.stringify(localStorage));
  const { exceptionDetails } = await cdp.send(
    "Runtime.evaluate",
    { expression: `for (const { name, value } of JSON.parse(${entries})) localStorage.setItem(name, value)` },
    sessionId,
  );
  if (exceptionDetails !== undefined)
    throw new Error(
      `The local storage of ${origin} could not be filled: ${exceptionDetails.exception?.description ?? exceptionDetails.text}.`,
    );
}
