import { ServiceError } from "@shoal/router";
import type { CreateBrowser, CreateProxy } from "@shoal/schemas";
import { type ReadArguments, readArguments } from "./arguments.ts";
import { toProxy } from "./proxy.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A session that a client of WebDriver requests. */
export interface WantedSession {
  readonly create: CreateBrowser;
  /** Of this session alone. It is not stored. */
  readonly proxy: CreateProxy | undefined;
  /** For the driver. */
  readonly driver: Fields;
  /** Major version of the browser; empty if the client accepts any. */
  readonly major: string;
  readonly wantsSocket: boolean;
  readonly wantsDownloads: boolean;
  readonly name: string | undefined;
  /** Capabilities without effect. */
  readonly ignored: readonly string[];
}

/** As Grid: seconds without a command. */
const usualTimeout = 300;
const maxAlternatives = 20;
/** Names of capabilities are strings of the client. */
const maxIgnored = 50;
const maxNameCharacters = 100;

/** The driver validates their values. */
const forDriver = [
  "acceptInsecureCerts",
  "goog:loggingPrefs",
  "pageLoadStrategy",
  "strictFileInteractability",
  "timeouts",
  "unhandledPromptBehavior",
];
const driverOptions = ["devToolsEventsToLog", "perfLoggingPrefs", "windowTypes"];
/** Python's client copies its address with the key into the first. The others are always true here. */
const unmentioned = new Set(["se:remoteUrl", "setWindowRect", "se:cdpEnabled"]);

/** Options of Selenoid and Moon that have an effect. */
const vendorOptions = new Set(["enableVideo", "labels", "name", "screenResolution", "sessionTimeout", "timeZone"]);

const proxyHint =
  'Name it in the capability "proxy", or create one with POST /proxies, and name it in "shoal:options": {"proxy_id": "…"}.';

function refusal(name: string, problem: string, hint?: string): ServiceError {
  return new ServiceError(400, "bad_request", problem, { field: name.slice(0, maxNameCharacters), hint });
}

function fieldsIn(value: unknown, name: string): Fields {
  if (value === undefined || value === null) return {};
  if (typeof value === "object" && !Array.isArray(value)) return value as Fields;
  throw refusal(name, "expected an object");
}

/** Takes the first of the alternatives that is possible. @throws {ServiceError} 400 */
export function readCapabilities(body: { readonly capabilities?: unknown }): WantedSession {
  if (body.capabilities === undefined)
    throw refusal(
      "capabilities",
      "required",
      "Clients of the protocol before W3C WebDriver are not served: update yours.",
    );
  const { alwaysMatch, firstMatch = [{}] } = fieldsIn(body.capabilities, "capabilities");
  if (!Array.isArray(firstMatch) || firstMatch.length === 0 || firstMatch.length > maxAlternatives)
    throw refusal("capabilities.firstMatch", `expected a list of 1 to ${String(maxAlternatives)} objects`);
  const always = fieldsIn(alwaysMatch, "capabilities.alwaysMatch");
  let problem: unknown;
  for (const alternative of firstMatch as readonly unknown[]) {
    try {
      return read({ ...always, ...fieldsIn(alternative, "capabilities.firstMatch") });
    } catch (error) {
      problem ??= error;
    }
  }
  throw problem;
}

function read(all: Fields): WantedSession {
  const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null && value !== undefined));
  refuseOthers(given);
  const options = fieldsIn(given["goog:chromeOptions"], "goog:chromeOptions");
  const chrome = chromeOptions(options);
  const vendor = {
    ...fieldsIn(given["selenoid:options"], "selenoid:options"),
    ...fieldsIn(given["moon:options"], "moon:options"),
  };
  const own = fieldsIn(given["shoal:options"], "shoal:options");
  const known = new Set([
    ...forDriver,
    ...["browserName", "browserVersion", "goog:chromeOptions", "moon:options", "platformName", "selenoid:options"],
    ...["proxy", "se:downloadsEnabled", "se:name", "se:recordVideo", "se:screenResolution", "se:timeZone"],
    ...["shoal:options", "webSocketUrl"],
  ]);
  const size = chrome.viewport ?? screenSize(given["se:screenResolution"] ?? vendor.screenResolution);
  const name = given["se:name"] ?? vendor.name;
  const location = locationOf(chrome.locale, given["se:timeZone"] ?? vendor.timeZone);
  return {
    create: {
      timeout_seconds: timeoutIn(vendor.sessionTimeout) ?? usualTimeout,
      ...(size && { viewport: size }),
      ...(location && { location }),
      ...(isSet(given["se:recordVideo"] ?? vendor.enableVideo) && { recording: { video: true } }),
      ...(vendor.labels !== undefined && { tags: fieldsIn(vendor.labels, "labels") as Record<string, string> }),
      // The operation checks them.
      ...(own as CreateBrowser),
    },
    proxy: proxyOf(given, chrome, own),
    driver: {
      ...Object.fromEntries(forDriver.filter((key) => given[key] !== undefined).map((key) => [key, given[key]])),
      ...(chrome.acceptsInsecureCerts && { acceptInsecureCerts: true }),
      "goog:chromeOptions": Object.fromEntries(
        driverOptions.filter((key) => options[key] !== undefined).map((key) => [key, options[key]]),
      ),
    },
    major: majorIn(given.browserVersion),
    wantsSocket: given.webSocketUrl === true,
    wantsDownloads: given["se:downloadsEnabled"] === true,
    name: typeof name === "string" && name !== "" ? name.slice(0, maxNameCharacters) : undefined,
    ignored: [
      ...Object.keys(given).filter((key) => !known.has(key) && !unmentioned.has(key)),
      ...Object.keys(vendor).filter((key) => !vendorOptions.has(key)),
      ...chrome.ignored,
    ]
      .slice(0, maxIgnored)
      .map((key) => key.slice(0, maxNameCharacters)),
  };
}

/** Refuses capabilities without which the client would get something else than asked. */
function refuseOthers({ browserName = "", platformName = "" }: Fields): void {
  if (!["", "chrome", "chromium"].includes(String(browserName).toLowerCase()))
    throw refusal("browserName", "this service runs Chromium", 'Ask for "chrome".');
  if (!["", "any", "linux"].includes(String(platformName).toLowerCase()))
    throw refusal("platformName", "this service runs on Linux", 'Ask for "linux", or omit it.');
}

/** @throws {ServiceError} 400 for several proxies, of which only one would be used. */
function proxyOf(given: Fields, chrome: ReadArguments, own: Fields): CreateProxy | undefined {
  const capability = toProxy(fieldsIn(given.proxy, "proxy"));
  const proxy = capability ?? chrome.proxy;
  const others = [chrome.proxy, own.proxy_id ?? undefined, own.proxy ?? undefined];
  if (proxy !== undefined && others.some((other) => other !== undefined && other !== proxy))
    throw refusal("proxy", "a session has one proxy", 'Omit the others: "proxy", --proxy-server, or "shoal:options".');
  return proxy;
}

/** A switch of containers is a boolean, in some clients a text. */
const isSet = (value: unknown): boolean => value === true || value === "true";

function locationOf(locale: string | undefined, timezone: unknown): CreateBrowser["location"] {
  if (locale === undefined && timezone === undefined) return undefined;
  if (timezone !== undefined && typeof timezone !== "string")
    throw refusal("timeZone", "expected the name of a time zone", "Write Europe/Berlin.");
  return { ...(locale !== undefined && { locale }), ...(timezone !== undefined && { timezone }) };
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

function majorIn(version: unknown): string {
  const text = textOf(version).toLowerCase();
  if (["", "latest", "stable"].includes(text)) return "";
  const [major] = /^\d{1,4}(?=\.|$)/.exec(text) ?? [];
  if (major === undefined) throw refusal("browserVersion", 'expected "stable", "latest" or a version', "Omit it.");
  return major;
}

/** Nothing of them reaches the command line of Chromium. */
function chromeOptions(options: Fields): ReadArguments {
  const field = (name: string) => `goog:chromeOptions.${name}`;
  const { args = [], extensions = [] } = options;
  if (options.mobileEmulation !== undefined)
    throw refusal(
      field("mobileEmulation"),
      "a browser cannot start as a mobile device",
      "Send Emulation.setDeviceMetricsOverride with the CDP command of your client.",
    );
  if (options.debuggerAddress !== undefined)
    throw refusal(field("debuggerAddress"), "the session has its own browser", "Omit it.");
  if (!Array.isArray(extensions) || extensions.length > 0)
    throw refusal(
      field("extensions"),
      "extensions in the request are not possible",
      'Upload them with POST /extensions, and name them in "shoal:options": {"extensions": [{"name": "…"}]}.',
    );
  if ("proxy" in fieldsIn(options.prefs, field("prefs")))
    throw refusal(field("prefs.proxy"), "a proxy of the client is not possible", proxyHint);
  const others = Object.keys(options)
    .filter((name) => ![...driverOptions, "args", "extensions", "w3c"].includes(name))
    .map(field);
  const read = readArguments(args);
  return { ...read, ignored: [...others, ...read.ignored] };
}

/** `1920x1080x24` or `1920x1080`. */
function screenSize(value: unknown): ReadArguments["viewport"] {
  if (value === undefined) return undefined;
  const [, width, height] = /^(\d{1,5})x(\d{1,5})(?:x\d{1,2})?$/.exec(textOf(value)) ?? [];
  if (width === undefined) throw refusal("screenResolution", "expected 1920x1080x24");
  return { width: Number(width), height: Number(height) };
}

/** `90s`, `5m` or `1h`, or a combination. */
function timeoutIn(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  const [all, hours = "0", minutes = "0", seconds = "0"] =
    /^(?:(\d{1,3})h)?(?:(\d{1,5})m)?(?:(\d{1,6})s)?$/.exec(textOf(value)) ?? [];
  if (all === undefined || all === "") throw refusal("sessionTimeout", "expected a duration such as 5m");
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
}
