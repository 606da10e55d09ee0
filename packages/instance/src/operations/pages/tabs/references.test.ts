import { describe, expect, it } from "vitest";
import type { FrameTarget } from "../follow/followed-page.ts";
import { type DescribedElement, References } from "./references.ts";

const target: FrameTarget = { sessionId: "s", targetId: "f", parent: undefined };
const element = (backendNodeId: number, name: string, identity: string | undefined = name): DescribedElement => ({
  address: { target, frameId: "f", loaderId: "l", backendNodeId },
  role: "button",
  name,
  path: "",
  identity,
  url: "https://example.com/",
});

describe("references", () => {
  it("stay with their element, and with their only replacement", () => {
    const references = new References();
    expect(references.assign("t1", [element(1, "Save"), element(2, "Undo")])).toEqual(["e1", "e2"]);
    expect(references.takeReplaced("t1")).toEqual([]);
    expect(references.assign("t1", [element(2, "Undo"), element(3, "Save")])).toEqual(["e2", "e1"]);
    expect(references.takeReplaced("t2")).toEqual([]);
    expect(references.takeReplaced("t1")).toEqual(["e1"]);
    expect(references.takeReplaced("t1")).toEqual([]);
  });

  it("are not given to an element with another identity, without one, or in another tab", () => {
    const references = new References();
    const equal = (id: number): DescribedElement => ({ ...element(id, "Delete"), identity: undefined });
    references.assign("t1", [element(1, "Delete", "row 1"), element(2, "Delete", "row 2")]);
    expect(references.assign("t1", [element(3, "Delete", "row 2"), element(4, "Delete", "row 3")])).toEqual([
      "e2",
      "e3",
    ]);
    expect(references.assign("t2", [element(5, "Delete", "row 1")])).toEqual(["e4"]);
    references.assign("t3", [equal(6), equal(7)]);
    expect(references.assign("t3", [equal(8)])).toEqual(["e7"]);
    // Equal ones have no identity any more.
    references.assign("t4", [element(9, "Same")]);
    references.assign("t4", [equal(9), equal(10)]);
    expect(references.assign("t4", [element(11, "Same")])).toEqual(["e10"]);
  });

  it("are forgotten, the oldest first, and never used again", () => {
    const references = new References();
    references.assign("t1", [element(1, "First")]);
    const many = Array.from({ length: 10_000 }, (_, place) => element(place + 10, `Element ${String(place)}`));
    references.assign("t1", many);
    expect(references.get("e1")).toBeUndefined();
    expect(references.get("e10001")?.name).toBe("Element 9999");
    expect(references.assign("t1", [element(1, "First")])).toEqual(["e10002"]);
  });
});
