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

describe("roles and names", () => {
  it("are those of the specifications, and of Chromium's accessibility tree", async () => {
    const parts = roleNameCases.map(({ html }, place) => `<p>case ${String(place)} starts</p>${html}`);
    await session.show(`<title>t</title>${parts.join("\n")}<p>case ${String(roleNameCases.length)} starts</p>`);
    const { text } = await session.instance.call("POST", "/observe", JSON.stringify({ max_tokens: 100_000 }));
    const { outline } = JSON.parse(text) as { outline: string };
    const executed = await session.instance.call("POST", "/playwright/execute", JSON.stringify({ code: chromiumCode }));
    const { result } = JSON.parse(executed.text) as { result: readonly (readonly [string, string])[] };
    expect(result).toHaveLength(roleNameCases.length);
    const sections = outline.split(/^case \d+ starts$/m).slice(1);
    const wrong: Record<"chromium" | "outline", string[]> = { chromium: [], outline: [] };
    for (const [place, { html, name, role }] of roleNameCases.entries()) {
      const [chromiumRole = "", chromiumName = ""] = result[place] ?? [];
      const isSame = (sameRoles[chromiumRole] ?? chromiumRole) === role && chromiumName === name;
      if (!isSame) wrong.chromium.push(`${role} "${name}" is ${chromiumRole} "${chromiumName}": ${html}`);
      const section = sections[place] ?? "";
      const line = new RegExp(`(?:^|[|*:] |\\s)${role}(?: \\d)? "${name}"`, "m");
      if (!line.test(section)) wrong.outline.push(`${role} "${name}" is ${section.trim()}: ${html}`);
    }
    expect(wrong).toEqual({ chromium: [], outline: [] });
  });
});
