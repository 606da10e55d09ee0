import * as placement from "./index.ts";
import { expect, it } from "vitest";

it("exports what it means to, and no more", () => {
  expect(Object.keys(placement).sort()).toEqual([
    "PlacementError",
    "answerText",
    "checkPrivateHosts",
    "createEgressProbe",
    "createOutboundRule",
    "createPlacement",
    "examineHost",
    "findChromium",
  ]);
});
