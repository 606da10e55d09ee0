import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import { describe, expect, it } from "vitest";
import { findChromium } from "../../../testing/chromium.ts";
import { type CapturedProcess, snapshotParameters } from "../sight/captured-page.ts";
import { outlineRoles, shownRole } from "../reading/roles.ts";
import { ActingSession } from "../testing/acting-session.ts";
import { roleNameCases } from "../testing/role-name-cases.ts";
import { stateCases } from "../testing/state-cases.ts";
import { accessibleOf } from "./accessibility.ts";
import { DomDocument } from "./dom-snapshot.ts";
import { plainNodes } from "./plain-nodes.ts";

const session = new ActingSession({ kind: "headless_shell", executable: findChromium("headless_shell") ?? "missing" });

/** The snapshot and Chromium's whole tree of the same document. */
const readCode = `
const cdp = await page.context().newCDPSession(page);
const snapshot = await cdp.send("DOMSnapshot.captureSnapshot", ${JSON.stringify(snapshotParameters({ isBasic: false, scrolls: true }))});
const { nodes } = await cdp.send("Accessibility.getFullAXTree");
await cdp.detach();
const reported = nodes.map(({ backendDOMNodeId, ignored, role, name, value, properties }) =>
  ({ nodeId: "", backendDOMNodeId, ignored, role, name, value, properties }));
return { documents: snapshot.documents, strings: snapshot.strings, reported };`;

/** Tables that look like a layout are shown as tables, drawings as images. */
const otherRoles: Readonly<Record<string, string>> = {
  LayoutTableRow: "row",
  LayoutTableCell: "cell",
  SvgRoot: "image",
};
const groupSize = 30;
/** Their whole tree is read. */
const wholeCases = /<dialog|aria-hidden=(?:1|TRUE)/;

async function read(html: string) {
  await session.show(html);
  const { text } = await session.instance.call("POST", "/playwright/execute", JSON.stringify({ code: readCode }));
  const { result } = JSON.parse(text) as {
    result: CapturedProcess & { readonly reported: readonly Protocol.Accessibility.AXNode[] };
  };
  const [document] = result.documents;
  if (document === undefined) throw new Error(text);
  return { dom: new DomDocument(document, result.strings), reported: result.reported };
}

/** Role, name, focus and states of a node; what an outline has no role for is generic and has no name. */
function shownOf(node: Protocol.Accessibility.AXNode | undefined) {
  if (node === undefined || node.ignored) return ["generic", "", false, []];
  const { isFocusable, name, role, states } = accessibleOf(node);
  const shown = otherRoles[role] ?? shownRole(role);
  const text = name.replace(/\s+/g, " ").trim();
  const isSilent =
    !outlineRoles.has(shown) || (shown === "separator" && !isFocusable) || (shown === "image" && text === "");
  return [isSilent ? "generic" : shown, isSilent ? "" : text, isFocusable, [...states].toSorted()];
}

/** Each difference between what the markup tells and Chromium's tree. */
async function differences(html: string): Promise<{ readonly wrong: readonly string[]; readonly known: number }> {
  const { dom, reported } = await read(html + "<p>other</p>".repeat(300));
  const plain = plainNodes(dom);
  if (plain === undefined) return { wrong: [`needs the whole tree: ${html}`], known: 0 };
  const byId = new Map(reported.map((node) => [node.backendDOMNodeId, node]));
  const wrong: string[] = [];
  if (plain.asked.length * 8 > dom.count) wrong.push(`asks about too many nodes: ${html}`);
  const textOf = (id: number): string => {
    const node = dom.find(id);
    const attributes = node && [...dom.attributesOf(node.index)].map(([name, value]) => ` ${name}="${value}"`);
    return `<${node?.tag ?? ""}${attributes?.join("") ?? ""}> ${String(id)}`;
  };
  for (const [id, { isFocusable, name, role, states }] of plain.nodes) {
    const isSilent = role === "generic" || (role === "image" && name === "");
    const shown = isSilent ? ["generic", ""] : [role, name];
    const found = JSON.stringify([...shown, isFocusable, [...states].toSorted()]);
    const expected = JSON.stringify(shownOf(byId.get(id)));
    if (found !== expected) wrong.push(`${found} is ${expected}: ${textOf(id)}`);
  }
  for (const id of plain.ignored) {
    const node = byId.get(id);
    const isOption = dom.find(id)?.tag === "option";
    if (node !== undefined && !node.ignored && !isOption)
      wrong.push(`ignored is ${JSON.stringify(accessibleOf(node))}: ${textOf(id)}`);
  }
  return { wrong, known: [...plain.nodes.values()].filter(({ role }) => role !== "generic").length };
}

describe("what the markup tells", () => {
  it.each([
    { title: "states", cases: stateCases },
    { title: "roles and names", cases: roleNameCases.map(({ html }) => html).filter((html) => !wholeCases.test(html)) },
  ])("is what Chromium's tree has: $title", async ({ cases }) => {
    const wrong: string[] = [];
    let known = 0;
    for (let first = 0; first < cases.length; first += groupSize) {
      const found = await differences(cases.slice(first, first + groupSize).join("\n"));
      wrong.push(...found.wrong);
      known += found.known;
    }
    expect(wrong).toEqual([]);
    expect(known).toBeGreaterThan(40);
  });

  it("leaves long texts to Chromium, however many elements they name", async () => {
    const buttons = `<button aria-labelledby="x">b</button>`.repeat(20);
    const { dom } = await read(
      `<p id=x>${"long ".repeat(4_000)}</p>${buttons}<p id=y>short</p><button aria-labelledby=y>b</button>`,
    );
    const plain = plainNodes(dom);
    expect(plain?.asked).toHaveLength(20);
    expect([...(plain?.nodes.values() ?? [])].filter(({ role }) => role === "button")).toMatchObject([
      { name: "short" },
    ]);
  });
});
