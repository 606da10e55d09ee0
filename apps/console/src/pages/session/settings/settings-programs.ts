import type { UpdateBrowser } from "@shoal/schemas";
import { forShell, type Programs } from "../../../base/programs.ts";

/** The same change from a program. */
export function programsOf(id: string, change: UpdateBrowser): Programs {
  return {
    sdk: `await shoal.browsers.update(${JSON.stringify(id)}, ${JSON.stringify(change, undefined, 2)});`,
    cli: ["browsers update", id, ...flagsOf(change)].join(" "),
    curl: { method: "PATCH", path: `/browsers/${id}`, body: change },
  };
}

function flagsOf({
  chrome_policy,
  name,
  network,
  profile,
  proxy_id,
  tags,
  telemetry,
  viewport,
  ...rest
}: UpdateBrowser) {
  const flags: (readonly [name: string, value: string | undefined])[] = [];
  if (name !== undefined) flags.push(["--name", name ?? "null"]);
  if (tags) {
    const labels = Object.entries(tags).map(([key, value]) => `${key}=${value}`);
    for (const label of labels.length === 0 ? ["null"] : labels) flags.push(["--tag", label]);
  }
  if (proxy_id !== undefined) flags.push(["--proxy-id", proxy_id ?? "null"]);
  for (const host of network?.allow ?? []) flags.push(["--allow", host]);
  for (const host of network?.deny ?? []) flags.push(["--deny", host]);
  if (profile?.id !== undefined) flags.push(["--profile-id", profile.id]);
  if (profile?.save_changes === true) flags.push(["--profile-save-changes", undefined]);
  if (rest.disconnect_timeout_seconds !== undefined)
    flags.push(["--disconnect-timeout-seconds", String(rest.disconnect_timeout_seconds)]);
  if (rest.sleep_after_seconds !== undefined) flags.push(["--sleep-after-seconds", String(rest.sleep_after_seconds)]);
  if (viewport) flags.push(["--viewport", `${viewport.width}x${viewport.height}`]);
  if (chrome_policy) flags.push(["--chrome-policy", JSON.stringify(chrome_policy)]);
  if (telemetry) flags.push(["--telemetry", JSON.stringify(telemetry)]);
  return flags.map(([flag, value]) => (value === undefined ? flag : `${flag} ${forShell(value)}`));
}
