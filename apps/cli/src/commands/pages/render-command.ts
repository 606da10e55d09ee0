import type { Command } from "commander";
import type { Adding } from "../../core/types.ts";
import { examplesHelp, fileOption, outputOption } from "../command-line.ts";
import type { RenderFlags } from "./render-flags.ts";

/** Adds `shoal render`. Its code loads when it runs. */
export function addRenderCommand({ groupFor, run, specOf }: Adding): void {
  groupFor([])
    .command("render")
    .summary("Render a page without a session")
    .description(
      "Render a page without a session\n\nWrites Markdown, or what the name of --file requires: .md, .html, .txt, .png, .jpg, .webp, .pdf, .json.",
    )
    .argument("<url>", "Address, or - for HTML from stdin")
    .option("--as <output>", "Output: markdown, html, text, links, outline, screenshot or pdf")
    .option("--full-page", "Take a picture of the whole page")
    .option("--wait-until <state>", "State of loading: domcontentloaded, load, network_almost_idle, network_idle")
    .option("--wait-for <selector>", "CSS selector of an element that becomes visible")
    .option("--wait <duration>", "Longest time for everything, such as 10s or 2m (default: 30s)")
    .option("--profile <name>", "Profile to render with; it stays as it was")
    .option("--proxy <name>", "Proxy to use")
    .addOption(fileOption("write"))
    .addOption(outputOption())
    .addHelpText(
      "after",
      examplesHelp([
        "shoal render example.com",
        "shoal render example.com -f page.pdf",
        "shoal render - -f page.png < page.html",
      ]),
    )
    .action(async (address: string, _options: object, command: Command) => {
      const { runRender } = await import("./run-render.ts");
      await runRender(address, command.optsWithGlobals<RenderFlags>(), { run, spec: specOf("browsers.render") });
    });
}
