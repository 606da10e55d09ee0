import { Autocomplete } from "@base-ui/react/autocomplete";
import { Checkbox } from "@base-ui/react/checkbox";
import { Menubar } from "@base-ui/react/menubar";
import { Menu } from "@base-ui/react/menu";
import { NumberField } from "@base-ui/react/number-field";
import { Select } from "@base-ui/react/select";
import { Toolbar } from "@base-ui/react/toolbar";
import { done, show } from "./show.jsx";

const box = { border: "1px solid #888", background: "#fff", padding: 6 };

show({
  select: () => (
    <Select.Root onValueChange={done}>
      <Select.Trigger aria-label="Colour" style={{ minWidth: 80, minHeight: 20 }}>
        <Select.Value />
      </Select.Trigger>
      <Select.Portal>
        <Select.Positioner>
          <Select.Popup style={box}>
            {["Red", "Green"].map((c) => (
              <Select.Item key={c} value={c}>
                <Select.ItemText>{c}</Select.ItemText>
              </Select.Item>
            ))}
          </Select.Popup>
        </Select.Positioner>
      </Select.Portal>
    </Select.Root>
  ),
  autocomplete: () => (
    <Autocomplete.Root items={["Lisbon", "London"]} onValueChange={done}>
      <Autocomplete.Input aria-label="City" />
      <Autocomplete.Portal>
        <Autocomplete.Positioner>
          <Autocomplete.Popup style={box}>
            <Autocomplete.List>
              {(c) => (
                <Autocomplete.Item key={c} value={c}>
                  {c}
                </Autocomplete.Item>
              )}
            </Autocomplete.List>
          </Autocomplete.Popup>
        </Autocomplete.Positioner>
      </Autocomplete.Portal>
    </Autocomplete.Root>
  ),
  checkbox: () => (
    <label>
      <Checkbox.Root
        onCheckedChange={done}
        style={{ display: "inline-block", width: 16, height: 16, border: "1px solid" }}
      >
        <Checkbox.Indicator>x</Checkbox.Indicator>
      </Checkbox.Root>{" "}
      Terms
    </label>
  ),
  menubar: () => (
    <Menubar>
      <Menu.Root>
        <Menu.Trigger>View</Menu.Trigger>
        <Menu.Portal>
          <Menu.Positioner>
            <Menu.Popup style={box}>
              <Menu.CheckboxItem onCheckedChange={done}>Ruler</Menu.CheckboxItem>
            </Menu.Popup>
          </Menu.Positioner>
        </Menu.Portal>
      </Menu.Root>
    </Menubar>
  ),
  "number field": () => (
    <NumberField.Root defaultValue={3} onValueChange={done}>
      <NumberField.Group>
        <NumberField.Decrement>less</NumberField.Decrement>
        <NumberField.Input aria-label="Guests" />
        <NumberField.Increment>more</NumberField.Increment>
      </NumberField.Group>
    </NumberField.Root>
  ),
  toolbar: () => (
    <Toolbar.Root>
      <Toolbar.Button onClick={() => done("bold")}>Bold</Toolbar.Button>
      <Toolbar.Button>Italic</Toolbar.Button>
    </Toolbar.Root>
  ),
});
