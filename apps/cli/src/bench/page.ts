/** The page of the bench. */
export const pageHtml =
  '<!doctype html><title>bench</title><style>body{font:16px sans-serif}</style><h1 id="count">0</h1>' +
  '<button id="more" onclick="count.textContent = String(Number(count.textContent) + 1)">more</button><input id="field">';

/** Clicks on the button in ten actions. */
export const clickTimes = 3;
/** Letters typed in ten actions. */
export const letters = "abc";
