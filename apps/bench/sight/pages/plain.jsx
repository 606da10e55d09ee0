// Libraries without a framework, and small ones for React.
import "bootstrap/dist/css/bootstrap.css";
import "choices.js/public/assets/styles/choices.css";
import "flatpickr/dist/flatpickr.css";
import "tom-select/dist/css/tom-select.css";
import * as bootstrap from "bootstrap";
import Choices from "choices.js";
import { Command } from "cmdk";
import flatpickr from "flatpickr";
import { useEffect, useRef } from "react";
import Select from "react-select";
import TomSelect from "tom-select";
import { done, show } from "./show.jsx";

function Html({ html, start }) {
  const box = useRef(null);
  useEffect(() => {
    box.current.innerHTML = html;
    start(box.current);
  }, []);
  return <div ref={box} />;
}

const options = `<select aria-label="Colour" id="it"><option value="">Choose</option><option>Red</option><option>Green</option></select>`;
const listen = (box, type = "change") => box.querySelector("#it").addEventListener(type, (e) => done(e.target.value));
const widgets = {
  "bootstrap dropdown": [
    `<div class="dropdown"><button class="btn dropdown-toggle" data-bs-toggle="dropdown">Actions</button><ul class="dropdown-menu"><li><button class="dropdown-item" id="it" value="archived">Archive</button></li></ul></div>`,
    (box) => listen(box, "click"),
  ],
  "bootstrap modal": [
    `<button data-bs-toggle="modal" data-bs-target="#m">Add</button><div class="modal fade" id="m" tabindex="-1"><div class="modal-dialog"><div class="modal-content"><div class="modal-body"><label>Title <input id="it"></label></div></div></div></div>`,
    (box) => listen(box, "input"),
  ],
  "bootstrap collapse": [
    `<a data-bs-toggle="collapse" href="#c" role="button">Details</a><div class="collapse" id="c"><button id="it" value="more">Read more</button></div>`,
    (box) => listen(box, "click"),
  ],
  "bootstrap toggles": [
    `<div class="btn-group"><input type="radio" class="btn-check" name="r" id="a" autocomplete="off"><label class="btn btn-outline-primary" for="a">Day</label><input type="radio" class="btn-check" name="r" id="it" value="week" autocomplete="off"><label class="btn btn-outline-primary" for="it">Week</label></div>`,
    (box) => listen(box),
  ],
  "bootstrap floating label": [
    `<div class="form-floating"><input class="form-control" id="it" placeholder="x"><label for="it">Mail</label></div>`,
    (box) => listen(box, "input"),
  ],
  choices: [options, (box) => (listen(box), new Choices(box.querySelector("#it")))],
  "tom select": [options, (box) => (listen(box), new TomSelect(box.querySelector("#it"), {}))],
  flatpickr: [
    `<label>Arrival <input id="it"></label>`,
    (box) => flatpickr(box.querySelector("#it"), { defaultDate: "2027-05-10", onChange: (_, text) => done(text) }),
  ],
  "range and colour": [
    `<label>Level <input type="range" min="0" max="10" value="2" id="it"></label>`,
    (box) => listen(box, "input"),
  ],
};

show({
  ...Object.fromEntries(
    Object.entries(widgets).map(([name, [html, start]]) => [name, () => <Html html={html} start={start} />]),
  ),
  "react-select": () => (
    <Select
      aria-label="Colour"
      options={["Red", "Green"].map((value) => ({ value, label: value }))}
      onChange={(o) => done(o.value)}
    />
  ),
  "react-select multiple": () => (
    <Select
      aria-label="Colours"
      isMulti
      defaultValue={[{ value: "Red", label: "Red" }]}
      options={["Red", "Green"].map((value) => ({ value, label: value }))}
      onChange={(o) => done(o.map(({ value }) => value).join())}
    />
  ),
  cmdk: () => (
    <Command label="Commands">
      <Command.Input placeholder="Type a command" />
      <Command.List>
        <Command.Item onSelect={done}>Open file</Command.Item>
        <Command.Item onSelect={done}>Close file</Command.Item>
      </Command.List>
    </Command>
  ),
});
void bootstrap;
