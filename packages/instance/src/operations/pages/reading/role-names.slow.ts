import { describe, expect, it } from "vitest";
import { findChromium } from "../../../testing/chromium.ts";
import { ActingSession } from "../testing/acting-session.ts";
import { roleNameCases } from "../testing/role-name-cases.ts";

const session = new ActingSession({ kind: "headless_shell", executable: findChromium("headless_shell") ?? "missing" });

/** Role and name of each case's element in Chromium's accessibility tree. */
const chromiumCode = `
const cdp = await page.context().newCDPSession(page);
const { nodes } = await cdp.send("Accessibility.getFullAXTree");
const byId = new Map(nodes.map((node) => [node.backendDOMNodeId, node]));
const { root } = await cdp.send("DOM.getDocument");
const { nodeIds } = await cdp.send("DOM.querySelectorAll", { nodeId: root.nodeId, selector: "[t]" });
const found = [];
for (const nodeId of nodeIds) {
  const { node } = await cdp.send("DOM.describeNode", { nodeId });
  const known = byId.get(node.backendNodeId);
  found.push([known?.role?.value, (known?.name?.value ?? "").replace(/\\s+/g, " ").trim()]);
}
await cdp.detach();
return found;`;
/** Roles of Chromium's own that are these in the specifications, or in an outline. */
const sameRoles: Readonly<Record<string, string>> = {
  DisclosureTriangle: "button",
  SvgRoot: "image",
  img: "image",
  generic: "textbox",
  "doc-abstract": "region",
  "doc-biblioref": "link",
  "doc-chapter": "region",
  "doc-cover": "image",
  "doc-index": "navigation",
  "doc-noteref": "link",
  "doc-toc": "navigation",
};

/** Compares pages with an amount of other content, so that the browser is asked about single elements only. */
const sizes = [
  { title: "in one document", count: roleNameCases.length, others: 0 },
  { title: "in a document that the browser need not describe", count: 12, others: 300 },
] as const;

describe("roles and names", () => {
  it.each(sizes)("$title are those of the specifications, and of Chromium's accessibility tree", async (size) => {
    const wrong: Record<"chromium" | "outline", string[]> = { chromium: [], outline: [] };
    for (let first = 0; first < roleNameCases.length; first += size.count) {
      const cases = roleNameCases.slice(first, first + size.count);
      const parts = cases.map(({ html }, place) => `<p>case ${String(place)} starts</p>${html}`);
      const others = "<p>other</p>".repeat(size.others);
      await session.show(`<title>t</title>${parts.join("\n")}<p>case ${String(cases.length)} starts</p>${others}`);
      const { text } = await session.instance.call("POST", "/observe", JSON.stringify({ max_tokens: 100_000 }));
      const { outline } = JSON.parse(text) as { outline: string };
      const body = JSON.stringify({ code: chromiumCode });
      const executed = await session.instance.call("POST", "/playwright/execute", body);
      const { result } = JSON.parse(executed.text) as { result: readonly (readonly [string, string])[] };
      expect(result).toHaveLength(cases.length);
      const sections = outline.split(/^case \d+ starts$/m).slice(1);
      for (const [place, { html, name, role }] of cases.entries()) {
        const [chromiumRole = "", chromiumName = ""] = result[place] ?? [];
        const isSame = (sameRoles[chromiumRole] ?? chromiumRole) === role && chromiumName === name;
        if (!isSame) wrong.chromium.push(`${role} "${name}" is ${chromiumRole} "${chromiumName}": ${html}`);
        const section = sections[place] ?? "";
        const line = new RegExp(`(?:^|[|*:] |\\s)${role}(?: \\d)? "${name}"`, "m");
        if (!line.test(section)) wrong.outline.push(`${role} "${name}" is ${section.trim()}: ${html}`);
      }
    }
    expect(wrong).toEqual({ chromium: [], outline: [] });
  });
});
