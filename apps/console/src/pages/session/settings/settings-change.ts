import { type Browser, telemetryCategories, type UpdateBrowser } from "@shoal/schemas";

/** Categories of telemetry that a person can turn on. */
export const categories = telemetryCategories.filter((category) => category !== "monitor");
type Category = (typeof categories)[number];

const telemetryField = (category: Category) => `telemetry.browser.${category}` as const;

/** The fields that a running session can change, by their path in the request. */
export function initialOf(browser: Browser) {
  const { chrome_policy, name = "", network, proxy_id = "", sleep_after_seconds = 0, tags = {}, telemetry } = browser;
  const captured = Object.fromEntries(
    categories.map((category) => [telemetryField(category), telemetry?.browser?.[category]?.enabled === true]),
  ) as Record<ReturnType<typeof telemetryField>, boolean>;
  return {
    name,
    tags: Object.entries(tags)
      .map(([key, value]) => `${key}=${value}`)
      .join("\n"),
    proxy_id,
    "network.allow": (network?.allow ?? []).join("\n"),
    "network.deny": (network?.deny ?? []).join("\n"),
    "viewport.width": String(browser.viewport?.width ?? ""),
    "viewport.height": String(browser.viewport?.height ?? ""),
    "viewport.force": false,
    "profile.id": "",
    "profile.save_changes": false,
    sleep_after_seconds: String(sleep_after_seconds),
    chrome_policy: chrome_policy === undefined ? "" : JSON.stringify(chrome_policy, undefined, 2),
    ...captured,
  };
}
export type Settings = ReturnType<typeof initialOf>;

const linesIn = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

function tagsIn(text: string): Record<string, string> {
  return Object.fromEntries(
    linesIn(text).map((line) => {
      const at = line.indexOf("=");
      if (at < 1) throw new Error(`Each tag needs a name, an equals sign and a value, such as team=sales: "${line}".`);
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );
}

function policiesIn(text: string): Record<string, unknown> {
  if (text.trim() === "") return {};
  const problem = 'The policies must be a JSON object, such as {"BookmarkBarEnabled": false}.';
  let policies: unknown;
  try {
    policies = JSON.parse(text);
  } catch {
    throw new Error(problem);
  }
  if (typeof policies !== "object" || policies === null || Array.isArray(policies)) throw new Error(problem);
  return policies as Record<string, unknown>;
}

const listOrNone = (text: string): string[] | null => {
  const hosts = linesIn(text);
  return hosts.length === 0 ? null : hosts;
};

/** The request for the changed fields. @throws {Error} for tags and policies that cannot be read. */
export function changeOf(before: Settings, after: Settings): UpdateBrowser {
  const isChanged = (...names: (keyof Settings)[]) => names.some((name) => before[name] !== after[name]);
  const switched = categories.filter((category) => isChanged(telemetryField(category)));
  return {
    ...(isChanged("name") && { name: after.name.trim() === "" ? null : after.name.trim() }),
    ...(isChanged("tags") && { tags: tagsIn(after.tags) }),
    ...(isChanged("proxy_id") && { proxy_id: after.proxy_id === "" ? null : after.proxy_id }),
    ...(isChanged("network.allow", "network.deny") && {
      network: {
        ...(isChanged("network.allow") && { allow: listOrNone(after["network.allow"]) }),
        ...(isChanged("network.deny") && { deny: listOrNone(after["network.deny"]) }),
      },
    }),
    ...(after["profile.id"] !== "" && {
      profile: { id: after["profile.id"], ...(after["profile.save_changes"] && { save_changes: true }) },
    }),
    ...(isChanged("sleep_after_seconds") && { sleep_after_seconds: Number(after.sleep_after_seconds) }),
    ...(isChanged("viewport.width", "viewport.height") && {
      viewport: {
        width: Number(after["viewport.width"]),
        height: Number(after["viewport.height"]),
        ...(after["viewport.force"] && { force: true }),
      },
    }),
    ...(isChanged("chrome_policy") && { chrome_policy: policiesIn(after.chrome_policy) }),
    ...(switched.length > 0 && {
      telemetry: {
        browser: Object.fromEntries(
          switched.map((category) => [category, { enabled: after[telemetryField(category)] }]),
        ),
      },
    }),
  };
}
