import { statfsSync } from "node:fs";
import { join } from "node:path";
import type { InstanceConfig } from "../../protocol/protocol.ts";
import type { BrowserLaunch } from "./launch.ts";
import { windowSize } from "./viewport.ts";

/**
 * Features that send requests, open prompts or targets, or delay pages; see docs/decisions/chromium-flags.md. `DIPS`
 * deletes the state of sites that only redirect, as many sign-ins do.
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
  // Saves a process, a fifth of the cost of a start. On Linux the network service has no separate sandbox to lose.
  "NetworkServiceInProcess2",
  "PdfOopif",
  "SkipListAccountsWithoutGaiaCookies",
  // `document.modelContext`: pages register tools for agents.
  "WebMCP",
];

const constantArguments = [
  // Clients connect to the port. The pipe belongs to the instance, and Chromium exits when it closes.
  "--remote-debugging-port=0",
  "--remote-debugging-pipe=cbor",
  // Without it, requests to 127.0.0.1 bypass the egress gateway.
  "--proxy-bypass-list=<-loopback>",
  "--disable-quic",
  "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
  // Otherwise cookies are bound to the desktop's keyring, and another browser cannot read them.
  "--password-store=basic",
  "--use-mock-keychain",
  "--no-first-run",
  "--no-default-browser-check",
  "--no-service-autorun",
  "--allow-pre-commit-input",
  // Playwright's `goBack` and `goForward` wait for requests that a page from the cache never sends.
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
  // Otherwise builds try features on some users only; reading the list also costs a start some milliseconds.
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
  // The processor renders, and a session seldom compiles a shader twice: saves three caches of five files each.
  "--disable-gpu-shader-disk-cache",
  // Without a GPU, WebGL needs the software renderer.
  "--enable-unsafe-swiftshader",
  "--export-tagged-pdf",
  "--generate-pdf-document-outline",
  "--mute-audio",
  "--force-color-profile=srgb",
  "--window-position=0,0",
  `--disable-features=${disabledFeatures.join(",")}`,
  `--enable-features=${enabledFeatures.join(",")}`,
];

/** For a browser without a window: hides scroll bars and reports a mouse that hovers and points precisely. */
const headlessArguments = ["--hide-scrollbars"];
const headlessSettings = [
  "primaryHoverType=2",
  "availableHoverTypes=2",
  "primaryPointerType=4",
  "availablePointerTypes=4",
];
function conditionArguments({ conditions, headless }: BrowserLaunch): string[] {
  const { color_scheme: scheme, reduced_motion: motion } = conditions;
  const settings = [
    ...(headless ? headlessSettings : []),
    ...(scheme === undefined ? [] : [`preferredColorScheme=${scheme === "dark" ? "0" : "1"}`]),
  ];
  return [
    // Chromium takes only the last switch of this name.
    ...(settings.length === 0 ? [] : [`--blink-settings=${settings.join(",")}`]),
    ...(motion === undefined ? [] : [`--force-prefers-${motion === "reduce" ? "" : "no-"}reduced-motion`]),
  ];
}

const stealthArguments = [
  // Makes `navigator.webdriver` false.
  "--disable-blink-features=AutomationControlled",
  "--use-angle=swiftshader",
];

/** Below this much shared memory, pages with large images crash. Docker's default is 64 MB. */
const enoughSharedMemoryBytes = 256 * 2 ** 20;

/** `proxyPort`: port of the egress forwarder on 127.0.0.1. */
export function chromiumArguments(config: InstanceConfig, proxyPort: number, launch: BrowserLaunch): string[] {
  const { program } = launch;
  // A window fills its screen; without a screen, its size is derived from the page.
  const window = launch.headless ? windowSize(program.kind, launch.page) : launch.page;
  return [
    ...constantArguments,
    `--user-data-dir=${join(config.session_dir, "profile")}`,
    `--proxy-server=http://127.0.0.1:${String(proxyPort)}`,
    `--lang=${launch.locale}`,
    `--accept-lang=${acceptedLanguages(launch.locale)}`,
    `--window-size=${String(window.width)},${String(window.height)}`,
    ...(launch.headless ? [`--screen-info={${String(window.width)}x${String(window.height)}}`] : []),
    ...(program.kind === "chrome" ? ["--gaia-url=http://127.0.0.1:1"] : []),
    ...(program.kind === "chrome" && launch.headless ? ["--headless=new"] : []),
    ...(launch.headless ? headlessArguments : []),
    ...conditionArguments(launch),
    // Hides the button that offers to sign in.
    ...(launch.headless ? [] : ["--allow-browser-signin=false"]),
    ...(launch.kiosk ? ["--kiosk"] : []),
    ...(launch.stealth ? stealthArguments : []),
    ...(launch.randomSeed === undefined ? [] : [`--js-flags=--random-seed=${String(launch.randomSeed)}`]),
    ...(launch.userAgent === undefined ? [] : [`--user-agent=${launch.userAgent}`]),
    ...(launch.extensions.length > 0 ? [`--load-extension=${launch.extensions.join(",")}`] : []),
    ...(program.innerSandbox ? [] : ["--no-sandbox"]),
    // Only hides the bar that warns of these switches, which makes pages 56 pixels shorter.
    ...(program.innerSandbox && launch.headless && !launch.stealth ? [] : ["--test-type"]),
    ...(hasLittleSharedMemory() ? ["--disable-dev-shm-usage"] : []),
    "about:blank",
  ];
}

/** The locale, then its language, as a browser of that language sends them: `de-CH,de`. */
export function acceptedLanguages(locale: string): string {
  const [language = locale] = locale.split("-");
  return language === locale ? locale : `${locale},${language}`;
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
