import { expect, it } from "vitest";
import { findChromium } from "../../../testing/chromium.ts";
import { ActingSession } from "../testing/acting-session.ts";

const session = new ActingSession({ kind: "headless_shell", executable: findChromium("headless_shell") ?? "missing" });

const tall = '<div style="height:400px"></div>';
const button = `<button onclick="this.textContent = 'Clicked'">Go</button>`;
session.page("/inner", `${tall}${button}${tall}`);
session.page(
  "/middle",
  `<iframe srcdoc="${button.replaceAll('"', "&quot;")}" style="rotate:30deg;margin:80px"></iframe>`,
);

it.each([
  ["turned", "transform:rotate(-8deg);margin:50px", ""],
  [
    "mirrored and turned",
    "rotate:90deg;scale:1.2 .8;margin:150px;border:9px solid;padding:3px 20px 4px 7px",
    "transform:scaleX(-1)",
  ],
  ["skewed", "transform:skewX(20deg);margin:50px", ""],
  ["scaled below a zoomed part", "transform:scale(.7) rotate(5deg);margin:50px", "zoom:1.25"],
  ["zoomed", "zoom:1.3", "zoom:.8"],
  ["in an inline part, whose transform does not apply", "margin:50px", "display:inline;transform:rotate(90deg)"],
  ["in a part without a box", "margin:50px", "display:contents;rotate:90deg"],
])("clicks an element in a frame that is %s", async (_title, frame, around) => {
  for (const host of ["127.0.0.1", "localhost"]) {
    await session.show(
      `<div style="${around}"><iframe src="${session.url("/inner", host)}" style="${frame}"></iframe></div>`,
    );
    expect((await session.done({ type: "click", role: "button", name: "Go" })).element?.name).toBe("Clicked");
  }
});

it("clicks an element in a turned frame of a turned frame", async () => {
  await session.show(
    `<iframe src="${session.url("/middle", "localhost")}" style="transform:rotate(10deg);width:500px;height:360px;margin:50px"></iframe>`,
  );
  expect((await session.done({ type: "click", role: "button", name: "Go" })).element?.name).toBe("Clicked");
});
