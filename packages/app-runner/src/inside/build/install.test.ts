import { expect, it } from "vitest";
import { requirePython } from "./install.ts";

it("requires Python where the app is built and runs", async () => {
  await requirePython(process.execPath);
  await expect(requirePython("/nowhere/python3")).rejects.toThrow(
    "This server cannot run Python apps: the machine or image that runs apps has no /nowhere/python3.",
  );
});
