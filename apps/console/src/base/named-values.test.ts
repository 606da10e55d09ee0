import { expect, it } from "vitest";
import { namedValuesIn } from "./named-values.ts";

it("reads a name and a value from each line", () => {
  expect(namedValuesIn("Authorization: Bearer a:b\n\n x-team :  growth \n")).toEqual({
    Authorization: "Bearer a:b",
    "x-team": "growth",
  });
  expect(() => namedValuesIn("Bearer a")).toThrow("Each line needs a name");
});
