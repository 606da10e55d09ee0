import * as H from "@headlessui/react";
import { useState } from "react";
import { done, show } from "./show.jsx";

const people = ["Ada Lund", "Ben Okoro", "Grace Kim"];

function Combobox() {
  const [query, setQuery] = useState("");
  return (
    <H.Combobox onChange={done} onClose={() => setQuery("")}>
      <H.ComboboxInput aria-label="Person" onChange={(e) => setQuery(e.target.value)} />
      <H.ComboboxOptions anchor="bottom">
        {people
          .filter((p) => p.toLowerCase().includes(query.toLowerCase()))
          .map((p) => (
            <H.ComboboxOption key={p} value={p}>
              {p}
            </H.ComboboxOption>
          ))}
      </H.ComboboxOptions>
    </H.Combobox>
  );
}

function Listbox() {
  const [value, setValue] = useState(people[0]);
  return (
    <H.Listbox value={value} onChange={(v) => (setValue(v), done(v))}>
      <H.ListboxButton>{value}</H.ListboxButton>
      <H.ListboxOptions anchor="bottom">
        {people.map((p) => (
          <H.ListboxOption key={p} value={p}>
            {p}
          </H.ListboxOption>
        ))}
      </H.ListboxOptions>
    </H.Listbox>
  );
}

function Switch() {
  const [on, setOn] = useState(false);
  return (
    <H.Field>
      <H.Label>Alerts</H.Label>
      <H.Switch
        checked={on}
        onChange={(v) => (setOn(v), done(v))}
        style={{ width: 40, height: 20, border: "1px solid", background: on ? "#8c8" : "#ccc" }}
      />
    </H.Field>
  );
}

function Radio() {
  const [value, setValue] = useState("Start");
  return (
    <H.RadioGroup value={value} onChange={(v) => (setValue(v), done(v))} aria-label="Plan">
      {["Start", "Team", "Firm"].map((p) => (
        <H.Field key={p}>
          <H.Radio value={p} style={{ width: 12, height: 12, border: "1px solid", display: "inline-block" }} />
          <H.Label>{p}</H.Label>
        </H.Field>
      ))}
    </H.RadioGroup>
  );
}

show({
  combobox: Combobox,
  listbox: Listbox,
  switch: Switch,
  "radio group": Radio,
  menu: () => (
    <H.Menu>
      <H.MenuButton>Options</H.MenuButton>
      <H.MenuItems anchor="bottom">
        <H.MenuItem>
          <button onClick={() => done("duplicated")}>Duplicate</button>
        </H.MenuItem>
      </H.MenuItems>
    </H.Menu>
  ),
  popover: () => (
    <H.Popover>
      <H.PopoverButton>Filters</H.PopoverButton>
      <H.PopoverPanel anchor="bottom">
        <label>
          <input type="checkbox" onChange={(e) => done(e.target.checked)} /> In stock
        </label>
      </H.PopoverPanel>
    </H.Popover>
  ),
});
