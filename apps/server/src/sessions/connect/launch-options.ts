import { ServiceError } from "@shoal/router";

/** Options of a launch that only tune how the client works, or that the service decides. */
const withoutEffect: ReadonlySet<string> = new Set([
  "defaultArgs",
  "devtools",
  "dumpio",
  "handleSIGHUP",
  "handleSIGINT",
  "handleSIGTERM",
  "ignoreDefaultArgs",
  "pipe",
  "protocolTimeout",
  "slowMo",
  "timeout",
  "waitForInitialPage",
]);

/** Arguments that sessions have anyway, or that change nothing that a client sees. */
const harmless = new RegExp(
  `^--(?:${[
    "headless(?:=.*)?",
    "no-sandbox",
    "no-zygote",
    "no-first-run",
    "no-default-browser-check",
    "hide-scrollbars",
    "mute-audio",
    "start-maximized",
    "password-store=basic",
    "use-mock-keychain",
    "font-render-hinting=\\w+",
    "disable-blink-features=AutomationControlled",
    "disable-(?:setuid-sandbox|dev-shm-usage|gpu|software-rasterizer|infobars|notifications|popup-blocking)",
    "disable-(?:default-apps|extensions|sync|translate|breakpad|component-update|hang-monitor)",
    "disable-(?:background-networking|background-timer-throttling|backgrounding-occluded-windows)",
    "disable-(?:renderer-backgrounding|ipc-flooding-protection|client-side-phishing-detection)",
  ].join("|")})$`,
);

/** Whether the argument changes nothing that a client sees. */
export const isHarmlessArgument = (argument: string): boolean => harmless.test(argument);

export function windowSizeIn(argument: unknown): { readonly width: number; readonly height: number } | undefined {
  const [, width, height] =
    /^--window-size=(\d{1,5})[,x](\d{1,5})$/.exec(typeof argument === "string" ? argument : "") ?? [];
  return width === undefined ? undefined : { width: Number(width), height: Number(height) };
}

function refusal(field: string, problem: string, hint: string): ServiceError {
  return new ServiceError(400, "bad_request", problem, { field, hint });
}

/** JSON, or JSON in base64. @throws {ServiceError} 400. */
export function parsedOptions(text: string): Readonly<Record<string, unknown>> {
  for (const json of [text, Buffer.from(text, "base64").toString()]) {
    try {
      const value: unknown = JSON.parse(json);
      if (typeof value === "object" && value !== null && !Array.isArray(value))
        return value as Readonly<Record<string, unknown>>;
    } catch {
      // Tried in the other form, and reported below.
    }
  }
  throw refusal("launch", "it is neither a JSON object nor one in base64", 'Write launch={"headless":true}.');
}

/**
 * Translates the launch options of Puppeteer into fields of `browsers.create`. Nothing of them reaches the command line of
 * Chromium. @throws {ServiceError} 400 for an option that would change something else than asked.
 */
export function readLaunch(text: string): Readonly<Record<string, unknown>> {
  const fields: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(parsedOptions(text))) {
    if (name === "headless") fields.headless = value !== false;
    else if (name === "stealth") fields.stealth = value;
    else if (name === "defaultViewport") {
      if (value !== null) fields.viewport = sizeIn(value);
    } else if (name === "args") Object.assign(fields, argumentsIn(value));
    else if (!withoutEffect.has(name))
      throw refusal(
        `launch.${name.slice(0, 100)}`,
        "the service cannot start a browser with this option",
        "Use the settings of the address, such as proxy, profile and viewport.",
      );
  }
  return fields;
}

function sizeIn(value: unknown): unknown {
  const { height, width } = (typeof value === "object" ? value : {}) as { height?: unknown; width?: unknown };
  return { width, height };
}

function argumentsIn(value: unknown): Readonly<Record<string, unknown>> {
  const list: readonly unknown[] | undefined = Array.isArray(value) ? value : undefined;
  if (list === undefined) throw refusal("launch.args", "it is not a list", 'Write "args":["--window-size=1280,720"].');
  const fields: Record<string, unknown> = {};
  for (const argument of list) {
    const size = windowSizeIn(argument);
    if (size !== undefined) fields.viewport = size;
    else if (typeof argument !== "string" || !isHarmlessArgument(argument))
      throw refusal(
        "launch.args",
        `${JSON.stringify(argument).slice(0, 100)} cannot be passed to Chromium`,
        "Use the settings of the address, such as proxy, profile and viewport.",
      );
  }
  return fields;
}
