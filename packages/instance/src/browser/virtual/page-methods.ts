/**
 * Methods that act only on the target of their session, or on the storage of its browser context. A method that is
 * missing here, or in `method-rules.ts`, is refused: review each new one of Chromium before adding it.
 */
const byDomain: Readonly<Record<string, string>> = {
  Accessibility:
    "disable enable getPartialAXTree getFullAXTree getRootAXNode getAXNodeAndAncestors getChildAXNodes queryAXTree",
  Animation:
    "disable enable getCurrentTime getPlaybackRate releaseAnimations resolveAnimation seekAnimations setPaused setPlaybackRate setTiming",
  Audits: "getEncodedResponse disable enable checkFormsIssues",
  Autofill: "disable enable",
  CSS: "addRule collectClassNames createStyleSheet disable enable forcePseudoState forceStartingStyle getBackgroundColors getComputedStyleForNode resolveValues getLonghandProperties getInlineStylesForNode getAnimatedStylesForNode getMatchedStylesForNode getEnvironmentVariables getMediaQueries getPlatformFontsForNode getStyleSheetText getLayersForNode getLocationForSelector trackComputedStyleUpdatesForNode trackComputedStyleUpdates takeComputedStyleUpdates setEffectivePropertyValueForNode setPropertyRulePropertyName setKeyframeKey setMediaText setContainerQueryText setContainerQueryConditionText setSupportsText setNavigationText setScopeText setRuleSelector setStyleSheetText setStyleTexts startRuleUsageTracking stopRuleUsageTracking takeCoverageDelta setLocalFontsEnabled",
  CacheStorage: "deleteCache deleteEntry requestCacheNames requestCachedResponse requestEntries",
  Console: "clearMessages disable enable",
  DOM: "collectClassNamesFromSubtree copyTo describeNode scrollIntoViewIfNeeded disable discardSearchResults enable focus getAttributes getBoxModel getContentQuads getDocument getFlattenedDocument getNodesForSubtreeByStyle getNodeForLocation getOuterHTML getRelayoutBoundary getSearchResults hideHighlight highlightNode highlightRect markUndoableState moveTo performSearch pushNodeByPathToFrontend pushNodesByBackendIdsToFrontend querySelector querySelectorAll getTopLayerElements getElementByRelation redo removeAttribute removeNode requestChildNodes requestNode resolveNode setAttributeValue setAttributesAsText setNodeStackTracesEnabled getNodeStackTraces getDetachedDomNodes setInspectedNode setNodeName setNodeValue setOuterHTML undo getFrameOwner getContainerForNode getQueryingDescendantsForContainer getAnchorElement forceShowPopover getImplicitAnchorCandidates forceShowInterest",
  DOMDebugger:
    "getEventListeners removeDOMBreakpoint removeEventListenerBreakpoint removeInstrumentationBreakpoint removeXHRBreakpoint setBreakOnCSPViolation setDOMBreakpoint setEventListenerBreakpoint setInstrumentationBreakpoint setXHRBreakpoint",
  DOMSnapshot: "disable enable getSnapshot captureSnapshot",
  DOMStorage: "clear disable enable getDOMStorageItems removeDOMStorageItem setDOMStorageItem",
  Debugger:
    "continueToLocation disable enable evaluateOnCallFrame getPossibleBreakpoints getScriptSource disassembleWasmModule nextWasmDisassemblyChunk getWasmBytecode getStackTrace pause pauseOnAsyncCall removeBreakpoint restartFrame resume searchInContent setAsyncCallStackDepth setBlackboxExecutionContexts setBlackboxPatterns setBlackboxedRanges setBreakpoint setInstrumentationBreakpoint setBreakpointByUrl setBreakpointOnFunctionCall setBreakpointsActive setPauseOnExceptions setReturnValue setScriptSource setSkipAllPauses setVariableValue stepInto stepOut stepOver",
  DeviceOrientation: "clearDeviceOrientationOverride setDeviceOrientationOverride",
  Emulation:
    "canEmulate clearDeviceMetricsOverride clearGeolocationOverride resetPageScaleFactor setFocusEmulationEnabled setAutoDarkModeOverride setCPUThrottlingRate setDefaultBackgroundColorOverride setSafeAreaInsetsOverride setDeviceMetricsOverride setDevicePostureOverride clearDevicePostureOverride setDisplayFeaturesOverride clearDisplayFeaturesOverride setScrollbarsHidden setDocumentCookieDisabled setEmitTouchEventsForMouse setEmulatedMedia setEmulatedVisionDeficiency setEmulatedOSTextScale setGeolocationOverride getOverriddenSensorInformation setSensorOverrideEnabled setSensorOverrideReadings setIdleOverride clearIdleOverride setNavigatorOverrides setPageScaleFactor setScriptExecutionDisabled setTouchEmulationEnabled setVirtualTimePolicy setLocaleOverride setTimezoneOverride setVisibleSize setDisabledImageTypes setDataSaverOverride setHardwareConcurrencyOverride setUserAgentOverride setAutomationOverride",
  EventBreakpoints: "setInstrumentationBreakpoint removeInstrumentationBreakpoint disable",
  Fetch:
    "disable enable failRequest fulfillRequest continueResponse continueWithAuth getResponseBody takeResponseBodyAsStream",
  HeapProfiler:
    "addInspectedHeapObject collectGarbage disable enable getHeapObjectId getObjectByHeapObjectId getSamplingProfile startSampling startTrackingHeapObjects stopSampling stopTrackingHeapObjects takeHeapSnapshot",
  IO: "close read resolveBlob",
  IndexedDB:
    "clearObjectStore deleteDatabase deleteObjectStoreEntries disable enable requestData getMetadata requestDatabase requestDatabaseNames",
  Input:
    "insertText imeSetComposition dispatchTouchEvent cancelDragging setIgnoreInputEvents setInterceptDrags synthesizePinchGesture synthesizeScrollGesture synthesizeTapGesture",
  Inspector: "disable enable",
  LayerTree:
    "compositingReasons disable enable loadSnapshot makeSnapshot profileSnapshot releaseSnapshot replaySnapshot snapshotCommandLog",
  Log: "clear disable enable startViolationsReport stopViolationsReport",
  Media: "enable disable",
  // Counts objects of the renderer process, which belongs to one browser context.
  Memory: "getDOMCounters",
  Network:
    "canClearBrowserCache canClearBrowserCookies canEmulateNetworkConditions clearBrowserCache clearBrowserCookies deleteCookies disable emulateNetworkConditions emulateNetworkConditionsByRule overrideNetworkState enable configureDurableMessages getAllCookies getCertificate getCookies getResponseBody getRequestPostData replayXHR searchInResponseBody setBlockedURLs setBypassServiceWorker setCacheDisabled setCookie setCookies setExtraHTTPHeaders setAttachDebugStack setUserAgentOverride streamResourceContent getSecurityIsolationStatus enableReportingApi",
  Overlay:
    "disable enable getHighlightObjectForTest getGridHighlightObjectsForTest getSourceOrderHighlightObjectForTest hideHighlight highlightFrame highlightNode highlightQuad highlightRect highlightSourceOrder setInspectMode setShowAdHighlights setPausedInDebuggerMessage setShowDebugBorders setShowFPSCounter setShowGridOverlays setShowFlexOverlays setShowScrollSnapOverlays setShowContainerQueryOverlays setShowPaintRects setShowLayoutShiftRegions setShowScrollBottleneckRects setShowHitTestBorders setShowWebVitals setShowViewportSizeOnResize setShowHinge setShowIsolatedElements setShowWindowControlsOverlay",
  Page: "addScriptToEvaluateOnLoad addScriptToEvaluateOnNewDocument bringToFront captureScreenshot captureSnapshot clearDeviceMetricsOverride clearDeviceOrientationOverride clearGeolocationOverride createIsolatedWorld deleteCookie disable enable getAppManifest getInstallabilityErrors getManifestIcons getAppId getAdScriptAncestry getFrameTree getLayoutMetrics getNavigationHistory resetNavigationHistory getResourceContent getResourceTree handleJavaScriptDialog navigateToHistoryEntry printToPDF reload removeScriptToEvaluateOnLoad removeScriptToEvaluateOnNewDocument screencastFrameAck searchInResource setAdBlockingEnabled setBypassCSP getPermissionsPolicyState getOriginTrials setDeviceMetricsOverride setDeviceOrientationOverride setFontFamilies setFontSizes setDocumentContent setGeolocationOverride setLifecycleEventsEnabled setTouchEmulationEnabled startScreencast stopLoading crash close setWebLifecycleState stopScreencast produceCompilationCache addCompilationCache clearCompilationCache setRPHRegistrationMode setSPCTransactionMode generateTestReport waitForDebugger setInterceptFileChooserDialog setPrerenderingAllowed",
  Performance: "disable enable setTimeDomain getMetrics",
  PerformanceTimeline: "enable",
  Preload: "enable disable",
  Profiler:
    "disable enable getBestEffortCoverage setSamplingInterval start startPreciseCoverage stop stopPreciseCoverage takePreciseCoverage",
  Runtime:
    "awaitPromise callFunctionOn compileScript disable discardConsoleEntries enable evaluate getIsolateId getHeapUsage getProperties globalLexicalScopeNames queryObjects releaseObject releaseObjectGroup runIfWaitingForDebugger runScript setAsyncCallStackDepth setCustomObjectFormatterEnabled setMaxCallStackSizeToCapture terminateExecution addBinding removeBinding getExceptionDetails",
  Schema: "getDomains",
  Security: "disable enable setIgnoreCertificateErrors handleCertificateError setOverrideCertificateErrors",
  ServiceWorker:
    "deliverPushMessage disable dispatchSyncEvent dispatchPeriodicSyncEvent enable setForceUpdateOnPageLoad skipWaiting startWorker stopAllWorkers stopWorker unregister updateRegistration",
  Storage:
    "getStorageKeyForFrame getStorageKey clearDataForOrigin clearDataForStorageKey getUsageAndQuota overrideQuotaForOrigin trackCacheStorageForOrigin trackCacheStorageForStorageKey trackIndexedDBForOrigin trackIndexedDBForStorageKey untrackCacheStorageForOrigin untrackCacheStorageForStorageKey untrackIndexedDBForOrigin untrackIndexedDBForStorageKey",
  WebAudio: "enable disable getRealtimeData",
  WebAuthn:
    "enable disable addVirtualAuthenticator setResponseOverrideBits removeVirtualAuthenticator addCredential getCredential getCredentials removeCredential clearCredentials setUserVerified setAutomaticPresenceSimulation setCredentialProperties",
  WebMCP: "enable disable invokeTool cancelInvocation",
};

/** Passed in the sessions of targets, never in those of the browser. */
export const pageMethods: ReadonlySet<string> = new Set(
  Object.entries(byDomain).flatMap(([domain, names]) => names.split(" ").map((name) => `${domain}.${name}`)),
);

/** Events of other domains are dropped. `Target` and `Browser` have separate rules. */
export const pageDomains: ReadonlySet<string> = new Set(Object.keys(byDomain));
