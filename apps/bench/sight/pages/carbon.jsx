import "@carbon/styles/css/styles.css";
import * as C from "@carbon/react";
import { done, show } from "./show.jsx";

const items = ["Red", "Green", "Blue"];

show({
  dropdown: () => (
    <div style={{ width: 300 }}>
      <C.Dropdown id="d" titleText="Colour" label="Choose" items={items} onChange={(e) => done(e.selectedItem)} />
    </div>
  ),
  "multi select": () => (
    <div style={{ width: 300 }}>
      <C.MultiSelect
        id="m"
        titleText="Colours"
        label="Choose"
        items={items.map((id) => ({ id, text: id }))}
        itemToString={(i) => i?.text ?? ""}
        onChange={(e) => done(e.selectedItems.map((i) => i.id).join())}
      />
    </div>
  ),
  "combo box": () => (
    <div style={{ width: 300 }}>
      <C.ComboBox id="c" titleText="Colour" items={items} onChange={(e) => done(e.selectedItem)} />
    </div>
  ),
  "overflow menu": () => (
    <C.OverflowMenu aria-label="Row actions">
      <C.OverflowMenuItem itemText="Stop app" onClick={() => done("stopped")} />
    </C.OverflowMenu>
  ),
  toggle: () => <C.Toggle id="t" labelText="Wifi" labelA="Off" labelB="On" onToggle={done} />,
  tile: () => (
    <C.SelectableTile id="s" value="basic" onChange={(_, selected) => done(selected)}>
      Basic plan
    </C.SelectableTile>
  ),
});
