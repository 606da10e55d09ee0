import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { environmentOf, reloadable, type SettingName, Settings, settings } from "./settings.ts";

const root = join(import.meta.dirname, "../../../..");
const pages = [
  "docs/operating.md",
  "docs/deploying.md",
  "docs/service/shoal.service",
  "Dockerfile",
  "compose.yaml",
  "SECURITY.md",
];
const read = (page: string) => readFileSync(join(root, page), "utf8");
// `Object.keys` returns plain strings.
const names = Object.keys(settings) as SettingName[];
const variables = new Set([...names.flatMap((name) => environmentOf(name)), "SHOAL_CONFIG", "SHOAL_API_KEY"]);
/** Words that look like settings but are error codes or fields of answers and of the access log. */
const otherWords = [
  "audit_export_not_available",
  "blob_store_unavailable",
  "rate_limited",
  "replay_view_url",
  "request_id",
];

describe.each(pages)("%s", (page) => {
  it("names only existing variables", () => {
    const named = [...read(page).matchAll(/\bSHOAL_[A-Z_]+\b/g)].map(([name]) => name);
    expect(named.filter((name) => !variables.has(name))).toEqual([]);
  });

  it("names only existing settings", () => {
    // Other words in code are names of the wire; most of them begin differently.
    const beginnings = new Set(
      names.filter((name) => name.includes("_")).map((name) => name.slice(0, name.indexOf("_"))),
    );
    const named = [...read(page).matchAll(/`([a-z]+(?:_[a-z0-9]+)+)`/g)].map(([, name = ""]) => name);
    const known = new Set<string>([...names, ...otherWords]);
    expect(named.filter((name) => beginnings.has(name.slice(0, name.indexOf("_"))) && !known.has(name))).toEqual([]);
  });

  it("has config files that the service accepts", () => {
    for (const [, text = ""] of read(page).matchAll(/(?:```yaml\n|<<'END'\n)([\s\S]*?)(?:```|END\n)/g)) {
      expect(Object.keys(parse(text) as object).filter((name) => !(name in settings))).toEqual([]);
      // Ellipses replace secrets.
      if (!text.includes("…")) expect(() => Settings.parse(parse(text))).not.toThrow();
    }
  });
});

it("lists the settings that change without a restart", () => {
  const [, section = ""] = read("docs/operating.md").split("## Change settings without a restart");
  const table = (section.split("\n## ")[0] ?? "").split("\n").filter((line) => line.startsWith("| "));
  const listed = [...table.join("\n").matchAll(/`([a-z_]+)`/g)].map(([, name = ""]) => name);
  expect(listed.toSorted()).toEqual(reloadable.toSorted());
});

it("has, in the Helm chart, the settings that are neither secret nor values of the chart", () => {
  const schema = JSON.parse(read("charts/shoal/values.schema.json")) as {
    properties: { config: { propertyNames: { enum: readonly string[] } } };
  };
  const chosen = schema.properties.config.propertyNames.enum;
  const omitted = names.filter((name) => settings[name].secret !== true && !chosen.includes(name));
  expect(chosen.filter((name) => !(name in settings) || settings[name as SettingName].secret === true)).toEqual([]);
  expect(omitted.toSorted()).toEqual([
    ...["accept_audit_head", "data_dir", "dev", "docker_host", "docker_image", "docker_tls_dir"],
    ...[
      "drain_seconds",
      "host",
      "kubernetes_image",
      "kubernetes_kubeconfig",
      "kubernetes_namespace",
      "kubernetes_runtime_class",
      "kubernetes_server_pod",
      "kubernetes_warm_pool",
    ],
    ...["metrics_host", "metrics_port", "new_admin_key", "placement", "port", "ready_file"],
    ...["session_drain_seconds", "shutdown_seconds", "unsafe_no_isolation"],
  ]);
});

const analyze = "/usr/bin/systemd-analyze";
const isMissing = !existsSync(analyze) && process.env.SHOAL_REQUIRE_ALL !== "1";

describe.skipIf(isMissing)(
  `the unit for systemd${isMissing ? " (skipped: needs systemd-analyze, apt install systemd)" : ""}`,
  () => {
    it("is valid for systemd", () => {
      const folder = mkdtempSync(join(tmpdir(), "shoal-unit-"));
      try {
        const unit = join(folder, "shoal.service");
        writeFileSync(unit, read("docs/service/shoal.service").replace("/usr/local/bin/shoal serve", "/bin/true"));
        execFileSync(analyze, ["verify", "--man=no", unit], { stdio: "pipe" });
        writeFileSync(unit, "[Service]\nExecStart=/nowhere\n");
        expect(() => execFileSync(analyze, ["verify", "--man=no", unit], { stdio: "pipe" })).toThrow();
      } finally {
        rmSync(folder, { recursive: true });
      }
    });

    it("omits directives that prevent bubblewrap from creating sandboxes", () => {
      const unit = read("docs/service/shoal.service");
      const set = [...unit.matchAll(/^(\w+)=/gm)].map(([, name]) => name);
      const harmful = [
        "ProtectKernelTunables",
        "ProtectKernelLogs",
        "ProtectProc",
        "ProcSubset",
        "ProtectControlGroups",
        "ProtectHostname",
        "PrivateUsers",
        "RestrictNamespaces",
        "SystemCallFilter",
        "MemoryDenyWriteExecute",
      ];
      expect(harmful.filter((name) => set.includes(name))).toEqual([]);
      // The unit explains this to operators who would add them.
      expect(harmful.filter((name) => !unit.includes(name))).toEqual([]);
    });
  },
);
