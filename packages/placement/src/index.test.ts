import * as placement from "./index.ts";
import { expect, it } from "vitest";

it("exports what it means to, and no more", () => {
  expect(Object.keys(placement).sort()).toEqual([
    "BoundedBytes",
    "Pace",
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
