import { examineHost } from "@shoal/placement";
import { type Browser, chromium } from "playwright-core";

/** The browser of a person, outside of the service. */
export async function launchPerson(): Promise<Browser> {
  const { chromium: installed } = await examineHost();
  return chromium.launch({
    executablePath: installed?.executable ?? "",
    chromiumSandbox: process.getuid?.() !== 0,
    args: ["--headless=new"],
  });
}
