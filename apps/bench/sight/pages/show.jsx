import { createRoot } from "react-dom/client";
import { Fragment } from "react";

/** The state that the script of a widget ends in. */
export function done(value) {
  document.title = String(value);
}

export const widgetName = decodeURIComponent(location.pathname.split("/").at(-1));

export function show(widgets, Around = Fragment) {
  const Widget = widgets[widgetName];
  createRoot(document.querySelector("#root")).render(
    <Around>
      <Widget />
    </Around>,
  );
}
