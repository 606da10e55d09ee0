import { ServiceError } from "@shoal/router";
import { isHarmlessArgument, parsedOptions, windowSizeIn } from "./launch-options.ts";

export interface PlaywrightLaunch {
  /** Settings of an address. */
  readonly wanted: Readonly<Record<string, string>>;
  /** Names of options without effect, such as `launch.slowMo`. */
  readonly ignored: readonly string[];
}

/** Options of the client's machine, which Playwright Test always sends. */
const ofClient: ReadonlySet<string> = new Set([
  "artifactsDir",
  "downloadsPath",
  "handleSIGHUP",
  "handleSIGINT",
  "handleSIGTERM",
  "logger",
  "timeout",
  "tracesDir",
]);
/** Options that tune a browser, and that its service decides. */
const tuning: ReadonlySet<string> = new Set([
  "assistantMode",
  "chromiumSandbox",
  "devtools",
  "executablePath",
  "firefoxUserPrefs",
  "ignoreAllDefaultArgs",
  "ignoreDefaultArgs",
  "slowMo",
]);
const channels: ReadonlySet<unknown> = new Set(["chrome", "chromium", "chromium-headless-shell"]);
/** Arguments that decide where traffic goes, the identity of the browser, or what protects its pages. */
const deciding = new RegExp(
  `^--(?:${[
    "proxy",
    "no-proxy",
    "host-",
    "dns-",
    "user-",
    "profile",
    "incognito",
    "guest",
    "lang",
    "accept-lang",
    "load-extension",
    "disable-extensions-except",
    "disable-web-security",
    "disable-site-isolation",
    "disable-features=.*(?:IsolateOrigins|site-per-process|BlockInsecure)",
    "ignore-certificate",
    "ignore-urlfetcher-cert",
    "allow-",
    "unsafely",
    "remote-",
    "use-fake-",
    "use-file-for-",
    "auth-",
    "ssl-",
  ].join("|")})`,
);

function refuse(option: string, problem: string): never {
  throw new ServiceError(400, "bad_request", problem, {
    field: `launch.${option.slice(0, 100)}`,
    hint: "Use the settings of the address, such as proxy, profile and viewport.",
  });
}

/**
 * Translates the launch options of Playwright, which reach no command line. @throws {ServiceError} 400 for an option
 * that decides where traffic goes, an identity, or what protects pages.
 */
export function readPlaywrightLaunch(text: string): PlaywrightLaunch {
  const wanted: Record<string, string> = {};
  const ignored: string[] = [];
  for (const [name, value] of Object.entries(parsedOptions(text))) {
    if (name === "headless") wanted.headless = String(value !== false);
    else if (name === "args") {
      const size = readArguments(value, ignored);
      if (size !== undefined) wanted.viewport = size;
    } else if (name === "channel") {
      if (!channels.has(value)) refuse(name, "the service runs Chromium");
    } else if (tuning.has(name)) ignored.push(`launch.${name}`);
    else if (!ofClient.has(name) && !isEmpty(value))
      refuse(name, "the service cannot start a browser with this option");
  }
  return { wanted, ignored };
}

const isEmpty = (value: unknown): boolean =>
  value === null || value === false || (typeof value === "object" && Object.keys(value).length === 0);

/** @returns the size of the window, as the address writes it. */
function readArguments(list: unknown, ignored: string[]): string | undefined {
  if (!Array.isArray(list)) refuse("args", "it is not a list");
  let size: string | undefined;
  for (const argument of list as readonly unknown[]) {
    const found = windowSizeIn(argument);
    if (found !== undefined) size = `${String(found.width)}x${String(found.height)}`;
    else if (typeof argument !== "string" || deciding.test(argument))
      refuse("args", `${JSON.stringify(argument).slice(0, 100)} cannot be passed to Chromium`);
    else if (!isHarmlessArgument(argument) && !ignored.includes("launch.args")) ignored.push("launch.args");
  }
  return size;
}
