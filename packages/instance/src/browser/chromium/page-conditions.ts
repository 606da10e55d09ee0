import type { CdpConnection } from "../cdp/cdp-connection.ts";
import type { PageConditions } from "./launch.ts";

/** Before clients can use the browser, so that no page is missed. */
export async function applyConditions(cdp: CdpConnection, conditions: PageConditions): Promise<void> {
  const { geolocation, permissions = [] } = conditions;
  // In their order, so that the last answer counts.
  for (const { name, origin, setting } of permissions)
    await cdp.send("Browser.setPermission", {
      permission: { name },
      setting: setting === "granted" ? "granted" : "denied",
      ...(origin !== undefined && { origin }),
    });
  if (geolocation !== undefined) await placePages(cdp, geolocation);
}

/** Chromium has no position for all pages. A new page waits for its position before its first script. */
async function placePages(cdp: CdpConnection, position: NonNullable<PageConditions["geolocation"]>): Promise<void> {
  // A separate session: a session's auto-attach filter can be set only once.
  const { sessionId: root } = await cdp.send("Target.attachToBrowserTarget");
  const open: Promise<unknown>[] = [];
  let isFollowing = false;
  cdp.on("Target.attachedToTarget", ({ sessionId }, parent) => {
    if (parent !== root) return;
    const placed = Promise.allSettled([
      cdp.send("Emulation.setGeolocationOverride", position, sessionId),
      cdp.send("Runtime.runIfWaitingForDebugger", undefined, sessionId),
    ]);
    if (!isFollowing) open.push(placed);
  });
  await cdp.send(
    "Target.setAutoAttach",
    { autoAttach: true, waitForDebuggerOnStart: true, flatten: true, filter: [{ type: "page" }] },
    root,
  );
  await Promise.all(open);
  isFollowing = true;
}
