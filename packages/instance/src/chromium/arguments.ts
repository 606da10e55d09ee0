import { statfsSync } from "node:fs";
import { join } from "node:path";
import type { InstanceConfig } from "../protocol.ts";
import type { BrowserLaunch } from "./launch.ts";
import { windowSize } from "./viewport.ts";

/**
 * Features that send requests, open prompts or targets, or delay pages. Those that Playwright or Puppeteer disable are listed with their reasons
 * in docs/decisions/chromium-flags.md. `DIPS` deletes the state of sites that only redirect, as many sign-ins do.
 */
const disabledFeatures = [
  "AcceptCHFrame",
  "AimEnabled",
  "AutofillServerCommunication",
  "AvoidCorsURLLoaderRestartOnRedirect",
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "CertificateTransparencyComponentUpdater",
  "DestroyProfileOnBrowserClose",
  "DIPS",
  "DialMediaRouteProvider",
  "GlobalMediaControls",
  "HttpsFirstBalancedModeAutoEnable",
  "HttpsUpgrades",
  "InterestFeedContentSuggestions",
  "LensOverlay",
  "MediaRouter",
  "NetworkTimeServiceQuerying",
  "OptimizationHints",
  "PaintHolding",
  "PreconnectToSearch",
  "ProcessPerSiteUpToMainFrameThreshold",
  "Translate",
  "WebUIOmniboxAimPopup",
  "WebUIOmniboxPopup",
  "WebUIReloadButton",
];

const enabledFeatures = [
  "CDPScreenshotNewSurface",
  // One process fewer to start, a fifth of the cost of a start. On Linux the network service has no sandbox of its own to lose.
  "NetworkServiceInProcess2",
  "PdfOopif",
  "SkipListAccountsWithoutGaiaCookies",
];

/** Same for every session. */
const constantArguments = [
  // Both at once: clients connect to the port; the pipe is the instance's own, and Chromium exits when it closes.
  "--remote-debugging-port=0",
  "--remote-debugging-pipe=cbor",
  // Without it 127.0.0.1 would be asked directly, past the egress gateway.
  "--proxy-bypass-list=<-loopback>",
  "--disable-quic",
  "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
  // Else cookies are bound to the desktop's keyring and cannot be read by another browser.
  "--password-store=basic",
  "--use-mock-keychain",
  "--no-first-run",
  "--no-default-browser-check",
  "--no-service-autorun",
  "--allow-pre-commit-input",
  // Playwright's `goBack` and `goForward` wait for requests that a page from the cache never makes.
  "--disable-back-forward-cache",
  "--disable-background-networking",
  "--disable-client-side-phishing-detection",
  "--disable-component-extensions-with-background-pages",
  "--disable-component-update",
  "--disable-default-apps",
  "--disable-domain-reliability",
  "--disable-sync",
  "--disable-breakpad",
  "--disable-crash-reporter",
  "--metrics-recording-only",
  // Else a build tries features on some users and not on others; reading the list costs a start some milliseconds too.
  "--disable-field-trial-config",
  "--no-pings",
  "--disable-search-engine-choice-screen",
  "--disable-session-crashed-bubble",
  "--hide-crash-restore-bubble",
  "--disable-background-timer-throttling",
  "--disable-backgrounding-occluded-windows",
  "--disable-renderer-backgrounding",
  "--disable-hang-monitor",
  "--disable-infobars",
  "--disable-ipc-flooding-protection",
  "--disable-popup-blocking",
  "--disable-prompt-on-repost",
  "--disable-gpu",
  // Pictures are drawn by the processor, and a session seldom compiles a shader twice: three caches of five files less to make.
  "--disable-gpu-shader-disk-cache",
  // Without a GPU, WebGL needs the software renderer.
  "--enable-unsafe-swiftshader",
  "--export-tagged-pdf",
  "--generate-pdf-document-outline",
  "--mute-audio",
  "--force-color-profile=srgb",
  "--lang=en-US",
  "--accept-lang=en-US,en",
  "--window-position=0,0",
  `--disable-features=${disabledFeatures.join(",")}`,
  `--enable-features=${enabledFeatures.join(",")}`,
];

/** For a browser without a window: hides scroll bars, and reports a mouse, which hovers and points exactly. */
const headlessArguments = [
  "--hide-scrollbars",
  "--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4",
];

/** Signs of a person's browser that an automated one lacks. */
const stealthArguments = [
  // `navigator.webdriver` is false then.
  "--disable-blink-features=AutomationControlled",
  "--use-angle=swiftshader",
];

/** Shared memory below which a page with large images crashes; Docker's default is 64 MB. */
const enoughSharedMemoryBytes = 256 * 2 ** 20;

/**
 * The command line of a session's Chromium.
 *
 * @param proxyPort - port of the egress forwarder on 127.0.0.1.
 */
export function chromiumArguments(config: InstanceConfig, proxyPort: number, launch: BrowserLaunch): string[] {
  const { program } = launch;
  // A window fills its screen; what no screen holds is counted from the page.
  const window = launch.headless ? windowSize(program.kind, launch.page) : launch.page;
  return [
    ...constantArguments,
    `--user-data-dir=${join(config.session_dir, "profile")}`,
    `--proxy-server=http://127.0.0.1:${String(proxyPort)}`,
    `--window-size=${String(window.width)},${String(window.height)}`,
    ...(launch.headless ? [`--screen-info={${String(window.width)}x${String(window.height)}}`] : []),
    ...(program.kind === "chrome" ? ["--gaia-url=http://127.0.0.1:1"] : []),
    ...(program.kind === "chrome" && launch.headless ? ["--headless=new"] : []),
    ...(launch.headless ? headlessArguments : []),
    // Without a button that offers to sign in.
    ...(launch.headless ? [] : ["--allow-browser-signin=false"]),
    ...(launch.kiosk ? ["--kiosk"] : []),
    ...(launch.stealth ? stealthArguments : []),
    ...(launch.userAgent === undefined ? [] : [`--user-agent=${launch.userAgent}`]),
    ...(launch.extensions.length > 0 ? [`--load-extension=${launch.extensions.join(",")}`] : []),
    ...(program.innerSandbox ? [] : ["--no-sandbox"]),
    // It only takes away the bar that warns of such switches and makes pages 56 pixels lower.
    ...(program.innerSandbox && launch.headless && !launch.stealth ? [] : ["--test-type"]),
    ...(hasLittleSharedMemory() ? ["--disable-dev-shm-usage"] : []),
    "about:blank",
  ];
}

function hasLittleSharedMemory(): boolean {
  if (process.platform !== "linux") return false;
  try {
    const { bsize, blocks } = statfsSync("/dev/shm");
    return bsize * blocks < enoughSharedMemoryBytes;
  } catch {
    return true;
  }
}
