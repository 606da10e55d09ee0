import { ServiceError } from "@shoal/router";
import type { CreateProxy } from "@shoal/schemas";
import { isHarmlessArgument, windowSizeIn } from "../../sessions/connect/launch-options.ts";
import { toSwitchProxy } from "./proxy.ts";

/** The arguments of `goog:chromeOptions`. None reaches the command line of Chromium. */
export interface ReadArguments {
  readonly viewport: { readonly width: number; readonly height: number } | undefined;
  readonly acceptsInsecureCerts: boolean;
  readonly proxy: CreateProxy | undefined;
  readonly locale: string | undefined;
  /** Known arguments without an effect here, without their values. */
  readonly ignored: readonly string[];
}

const field = "goog:chromeOptions.args";
const maxArguments = 500;
const maxShown = 100;

const insecureCerts: ReadonlySet<string> = new Set(["--ignore-certificate-errors", "--allow-insecure-localhost"]);

/** They become fields of the session. */
const withValue: ReadonlySet<string> = new Set(["--lang", "--proxy-bypass-list", "--proxy-server"]);

/** How a browser of one machine starts, logs, draws and stores. Pages and clients do not depend on these here. */
const withoutEffect: ReadonlySet<string> = new Set(
  [
    ...["remote-debugging-port", "remote-debugging-pipe", "remote-allow-origins", "enable-automation", "test-type"],
    ...["enable-logging", "disable-logging", "log-level", "silent", "v", "vmodule", "disable-crash-reporter"],
    ...["crash-dumps-dir", "no-service-autorun", "no-experiments", "no-pings", "no-report-upload", "single-process"],
    ...["renderer-process-limit", "disable-low-end-device-mode", "disable-background-mode"],
    ...["incognito", "guest", "bwsi", "kiosk", "start-fullscreen", "window-position", "new-window"],
    ...[
      "disk-cache-dir",
      "disk-cache-size",
      "media-cache-size",
      "aggressive-cache-discard",
      "disable-application-cache",
    ],
    ...["disable-cache", "use-gl", "use-angle", "enable-unsafe-swiftshader", "ignore-gpu-blocklist"],
    ...["disable-gpu-compositing", "disable-gpu-rasterization", "disable-gpu-sandbox", "disable-accelerated-2d-canvas"],
    ...["disable-accelerated-video-decode", "disable-vulkan", "force-color-profile", "disable-lcd-text"],
    ...["disable-search-engine-choice-screen", "disable-save-password-bubble", "disable-password-generation"],
    ...["disable-prompt-on-repost", "disable-session-crashed-bubble", "disable-plugins", "disable-plugins-discovery"],
    ...["disable-desktop-notifications", "disable-domain-reliability", "disable-field-trial-config"],
    ...["disable-component-extensions-with-background-pages", "metrics-recording-only"],
    ...["safebrowsing-disable-auto-update", "disable-print-preview", "export-tagged-pdf", "disable-smooth-scrolling"],
  ].map((name) => `--${name}`),
);

/** Of `--disable-features`: menus, bars and background work of the browser. */
const windowFeatures: ReadonlySet<string> = new Set([
  ...[
    "AcceptCHFrame",
    "AutofillServerCommunication",
    "CalculateNativeWinOcclusion",
    "CertificateTransparencyComponentUpdater",
  ],
  ...["ChromeWhatsNewUI", "DestroyProfileOnBrowserClose", "DialMediaRouteProvider", "GlobalMediaControls"],
  ...["InfiniteSessionRestore", "InterestFeedContentSuggestions", "MediaRouter", "OptimizationGuideModelDownloading"],
  ...["OptimizationHints", "OptimizationHintsFetching", "PasswordLeakDetection", "PasswordManagerOnboarding"],
  ...["PrivacySandboxSettings4", "Translate", "TranslateUI", "VizDisplayCompositor", "WhatsNewUI"],
]);

const hints: readonly (readonly [RegExp, string])[] = [
  [
    /^--(?:proxy-|no-proxy|host-|dns-|auth-)/,
    'Create a proxy with POST /proxies, and name it in "shoal:options": {"proxy_id": "…"}.',
  ],
  [/^--(?:lang|accept-lang)/, 'Set "shoal:options": {"location": {"locale": "de-DE"}}.'],
  [
    /^--(?:user-data-dir|profile-directory)/,
    'Omit it: sessions begin empty. For a profile, set "shoal:options": {"profile": {"name": "…"}}.',
  ],
  [
    /^--(?:load-extension|disable-extensions-except)/,
    'Upload it with POST /extensions, and name it in "shoal:options": {"extensions": [{"name": "…"}]}.',
  ],
  [/^--(?:user-agent|force-device-scale-factor)/, "Send its override in the domain Emulation with CDP."],
  [/^--use-fake-(?:ui|device)/, 'Set "shoal:options": {"conditions": {"permissions": {…}}}.'],
];
const usualHint = 'Omit it, use fields of POST /browsers in "shoal:options", or the CDP command of your client.';

/** @throws {ServiceError} 400 for an unknown argument, because the client would get another browser than it requests. */
export function readArguments(args: unknown): ReadArguments {
  if (!Array.isArray(args) || args.length > maxArguments)
    throw refusal(`expected a list of at most ${String(maxArguments)} strings`, "Omit repeated ones.");
  const ignored = new Set<string>();
  let viewport: ReadArguments["viewport"];
  let acceptsInsecureCerts = false;
  const values = new Map<string, string>();
  for (const argument of args as readonly unknown[]) {
    if (typeof argument !== "string") throw refusal("expected a list of strings", usualHint);
    const full = argument.startsWith("--") ? argument : `--${argument}`;
    const [name = ""] = full.split("=", 1);
    const size = windowSizeIn(full);
    if (size !== undefined) viewport = size;
    else if (insecureCerts.has(full)) acceptsInsecureCerts = true;
    else if (withValue.has(name) && full.length > name.length + 1) values.set(name, full.slice(name.length + 1));
    else if (withoutEffect.has(name) || isWindowFeature(full)) ignored.add(`${field}: ${name}`);
    else if (!isHarmlessArgument(full))
      throw refusal(
        `${JSON.stringify(argument.slice(0, maxShown))} is not possible on this service`,
        hints.find(([pattern]) => pattern.test(full))?.[1] ?? usualHint,
      );
  }
  return { viewport, acceptsInsecureCerts, ...readValues(values), ignored: [...ignored] };
}

function readValues(values: ReadonlyMap<string, string>): Pick<ReadArguments, "locale" | "proxy"> {
  const server = values.get("--proxy-server");
  const bypass = values.get("--proxy-bypass-list");
  if (server === undefined && bypass !== undefined)
    throw refusal('"--proxy-bypass-list" is not possible without a proxy', "Add --proxy-server, or omit it.");
  return {
    locale: values.get("--lang"),
    proxy: server === undefined || server === "direct://" ? undefined : toSwitchProxy(server, bypass),
  };
}

function isWindowFeature(argument: string): boolean {
  const [, names = "?"] = /^--disable-features=([\w,]{1,2000})$/.exec(argument) ?? [];
  return names.split(",").every((name) => name === "" || windowFeatures.has(name));
}

function refusal(problem: string, hint: string): ServiceError {
  return new ServiceError(400, "bad_request", problem, { field, hint });
}
