const list = (domain: string, names: string): string[] => names.split(" ").map((name) => `${domain}.${name}`);

/**
 * CDP methods that continue during a handoff: they read, or only change the client's own view. Scripts may click, so
 * `Runtime.evaluate` is missing. `runIfWaitingForDebugger` releases new tabs, which the person would not see otherwise.
 */
const readingMethods: ReadonlySet<string> = new Set([
  ...list(
    "Accessibility",
    "enable disable getFullAXTree getPartialAXTree getRootAXNode getAXNodeAndAncestors getChildAXNodes queryAXTree",
  ),
  ...list("Browser", "close getVersion getWindowBounds getWindowForTarget"),
  ...list(
    "CSS",
    "enable disable getBackgroundColors getComputedStyleForNode getInlineStylesForNode getMatchedStylesForNode getPlatformFontsForNode getStyleSheetText",
  ),
  ...list("Debugger", "disable resume"),
  ...list(
    "DOM",
    "enable disable collectClassNamesFromSubtree describeNode discardSearchResults getAttributes getBoxModel getContentQuads getDocument getFlattenedDocument getFrameOwner getNodeForLocation getOuterHTML getRelayoutBoundary getSearchResults getTopLayerElements performSearch pushNodeByPathToFrontend pushNodesByBackendIdsToFrontend querySelector querySelectorAll requestChildNodes requestNode resolveNode",
  ),
  ...list("DOMSnapshot", "enable disable captureSnapshot getSnapshot"),
  ...list("Fetch", "continueWithAuth disable getResponseBody"),
  ...list("IO", "close read"),
  ...list("Inspector", "enable disable"),
  ...list("Log", "enable disable"),
  ...list(
    "Network",
    "enable disable getAllCookies getCertificate getCookies getRequestPostData getResponseBody searchInResponseBody",
  ),
  ...list(
    "Page",
    "enable disable captureScreenshot captureSnapshot getAppManifest getFrameTree getLayoutMetrics getNavigationHistory getResourceContent getResourceTree printToPDF screencastFrameAck searchInResource setLifecycleEventsEnabled startScreencast stopScreencast",
  ),
  ...list("Performance", "enable disable getMetrics"),
  ...list(
    "Runtime",
    "enable disable getHeapUsage getIsolateId getProperties globalLexicalScopeNames releaseObject releaseObjectGroup runIfWaitingForDebugger",
  ),
  ...list("Schema", "getDomains"),
  ...list("Security", "enable disable"),
  ...list("Storage", "getCookies getStorageKeyForFrame getUsageAndQuota"),
  ...list("SystemInfo", "getInfo getProcessInfo"),
  ...list(
    "Target",
    "attachToBrowserTarget attachToTarget autoAttachRelated detachFromTarget getBrowserContexts getTargetInfo getTargets setAutoAttach setDiscoverTargets",
  ),
]);

/** Decisions about requests that a client intercepted before: the person's page would wait for them. */
const decisions: ReadonlySet<string> = new Set(
  list("Fetch", "continueRequest continueResponse failRequest fulfillRequest"),
);

export interface CdpCommand {
  readonly id?: unknown;
  readonly sessionId?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
}

/** @returns the decision about an intercepted request without its changes; `undefined` for other commands. */
export function unchangedDecision(command: CdpCommand): CdpCommand | undefined {
  const { method, params } = command;
  if (typeof method !== "string" || !decisions.has(method)) return undefined;
  if (typeof params !== "object" || params === null) return undefined;
  const { requestId } = params as { readonly requestId?: unknown };
  return { ...command, method: "Fetch.continueRequest", params: { requestId } };
}

/** @returns the command that continues during a handoff, perhaps without its changes; `undefined` if it has to wait. */
export function readingCommand(command: CdpCommand): CdpCommand | undefined {
  const { method } = command;
  return typeof method === "string" && readingMethods.has(method) ? command : unchangedDecision(command);
}

/** Commands of WebDriver BiDi that continue during a handoff. */
export const readingBidiCommands: ReadonlySet<string> = new Set([
  ...list("browser", "getClientWindows getUserContexts"),
  ...list("browsingContext", "captureScreenshot getTree locateNodes print"),
  // Decisions about intercepted requests lose their changes before they reach Chromium.
  ...list("network", "continueRequest continueResponse continueWithAuth failRequest provideResponse removeIntercept"),
  ...list("script", "getRealms disown"),
  ...list("session", "end new status subscribe unsubscribe"),
  ...list("storage", "getCookies"),
]);
