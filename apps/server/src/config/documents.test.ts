import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { environmentOf, type SettingName, Settings, settings } from "./settings.ts";

const root = join(import.meta.dirname, "../../../..");
const pages = ["docs/operating.md", "docs/deploying.md", "docs/service/shoal.service", "docs/service/Dockerfile", "SECURITY.md"];
const read = (page: string) => readFileSync(join(root, page), "utf8");
// `Object.keys` forgets the names' type.
const names = Object.keys(settings) as SettingName[];
const variables = new Set([...names.flatMap((name) => environmentOf(name)), "SHOAL_CONFIG", "SHOAL_API_KEY"]);
/** What begins like a setting and is none: codes, and fields of answers and of the access log. */
const otherWords = ["audit_export_not_available", "blob_store_unavailable", "rate_limited", "replay_view_url", "request_id"];

describe.each(pages)("%s", (page) => {
  it("names variables that there are", () => {
    const named = [...read(page).matchAll(/\bSHOAL_[A-Z_]+\b/g)].map(([name]) => name);
    expect(named.filter((name) => !variables.has(name))).toEqual([]);
  });

  it("names settings that there are", () => {
    // Other words in code are of the wire, and most begin otherwise.
    const beginnings = new Set(names.filter((name) => name.includes("_")).map((name) => name.slice(0, name.indexOf("_"))));
    const named = [...read(page).matchAll(/`([a-z]+(?:_[a-z0-9]+)+)`/g)].map(([, name = ""]) => name);
    const known = new Set<string>([...names, ...otherWords]);
    expect(named.filter((name) => beginnings.has(name.slice(0, name.indexOf("_"))) && !known.has(name))).toEqual([]);
  });

  it("has config files that the service takes", () => {
    for (const [, text = ""] of read(page).matchAll(/(?:```yaml\n|<<'END'\n)([\s\S]*?)(?:```|END\n)/g)) {
      expect(Object.keys(parse(text) as object).filter((name) => !(name in settings))).toEqual([]);
      // Ellipses stand for what is secret.
      if (!text.includes("…")) expect(() => Settings.parse(parse(text))).not.toThrow();
    }
  });
});

const analyze = "/usr/bin/systemd-analyze";
const isMissing = !existsSync(analyze) && process.env.SHOAL_REQUIRE_ALL !== "1";

describe.skipIf(isMissing)(`the unit for systemd${isMissing ? " (skipped: needs systemd-analyze, apt install systemd)" : ""}`, () => {
  it("is one that systemd understands", () => {
    const folder = mkdtempSync(join(tmpdir(), "shoal-unit-"));
    try {
      const unit = join(folder, "shoal.service");
      // The command is not installed here.
      writeFileSync(unit, read("docs/service/shoal.service").replace("/usr/local/bin/shoal serve", "/bin/true"));
      execFileSync(analyze, ["verify", "--man=no", unit], { stdio: "pipe" });
      writeFileSync(unit, "[Service]\nExecStart=/nowhere\n");
      expect(() => execFileSync(analyze, ["verify", "--man=no", unit], { stdio: "pipe" })).toThrow();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("leaves out what keeps bubblewrap from making boxes", () => {
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
    // It says so itself, to whoever would add them.
    expect(harmful.filter((name) => !unit.includes(name))).toEqual([]);
  });
});
