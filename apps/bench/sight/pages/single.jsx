// Libraries of one kind of widget each, and jQuery UI.
import "@yaireo/tagify/dist/tagify.css";
import "air-datepicker/air-datepicker.css";
import "jquery-ui/themes/base/all.css";
import "leaflet/dist/leaflet.css";
import "nouislider/dist/nouislider.css";
import "pikaday/css/pikaday.css";
import "quill/dist/quill.snow.css";
import "react-datepicker/dist/react-datepicker.css";
import "react-day-picker/style.css";
import "select2/dist/css/select2.css";
import "tabulator-tables/dist/css/tabulator.css";
import { closestCenter, DndContext } from "@dnd-kit/core";
import { arrayMove, SortableContext, useSortable, verticalListSortingStrategy } from "@dnd-kit/sortable";
import { Calendar } from "@fullcalendar/core";
import dayGrid from "@fullcalendar/daygrid";
import interaction from "@fullcalendar/interaction";
import { DragDropContext, Draggable, Droppable } from "@hello-pangea/dnd";
import Tagify from "@yaireo/tagify";
import AirDatepicker from "air-datepicker";
import en from "air-datepicker/locale/en";
import { useCombobox } from "downshift";
import IMask from "imask";
import { OTPInput } from "input-otp";
import jquery from "jquery";
import L from "leaflet";
import noUiSlider from "nouislider";
import Pikaday from "pikaday";
import Quill from "quill";
import { useState } from "react";
import DatePicker from "react-datepicker";
import { DayPicker } from "react-day-picker";
import OtpInput from "react-otp-input";
import Sortable from "sortablejs";
import { TabulatorFull } from "tabulator-tables";
import { done, show, widgetName } from "./show.jsx";

// Its plugins look for it there.
globalThis.jQuery = jquery;
await import("jquery-ui/dist/jquery-ui.js");
const select2 = await import("select2/dist/js/select2.full.js");
select2.default(globalThis, jquery);

const root = document.querySelector("#root");
const may = new Date(2027, 4, 1);
const items = ["Alpha", "Beta", "Gamma"];
const field = (label, attributes = "") => `<label for="it">${label}</label> <input id="it" ${attributes}>`;
const list = `<ul id="it">${items.map((item) => `<li>${item}</li>`).join("")}</ul>`;
const colours = (attributes = "") =>
  `<label for="it">Colour</label><select id="it" ${attributes} style="width:200px"><option>Red</option><option>Green</option><option>Blue</option></select>`;
const order = () => done([...document.querySelectorAll("#it li")].map((item) => item.textContent).join());
const calendar = (options) => (it) =>
  new Calendar(it, { plugins: [dayGrid, interaction], initialDate: "2027-05-01", ...options }).render();
const masked = (mask) => (it) => {
  const field = IMask(it, mask);
  field.on("accept", () => done(field.value));
};
const $ = (it, plugin, options) => jquery(it)[plugin](options);

/** The content of the page, and what makes the widget of it. */
const plain = {
  select2: [colours(), (it) => $(it, "select2").on("change", () => done(it.value))],
  "select2 multiple": [
    colours("multiple"),
    (it) => $(it, "select2", { placeholder: "Colours" }).on("change", () => done(jquery(it).val().join())),
  ],
  pikaday: [
    field("Arrival"),
    (it) => new Pikaday({ field: it, defaultDate: may, onSelect: (day) => done(day.toDateString()) }),
  ],
  "air datepicker": [
    field("Arrival"),
    (it) => new AirDatepicker(it, { locale: en, startDate: may, onSelect: ({ date }) => done(date.toDateString()) }),
  ],
  tagify: [
    field("Tags"),
    (it) => {
      const tags = new Tagify(it, { whitelist: ["boat", "sea", "sun"], dropdown: { enabled: 0 } });
      tags.on("change", () => done(tags.value.map(({ value }) => value).join()));
    },
  ],
  nouislider: [
    `<div id="it" style="margin:30px;width:400px"></div>`,
    (it) => {
      const handleAttributes = [{ "aria-label": "Low" }, { "aria-label": "High" }];
      const options = { start: [20, 80], step: 1, range: { min: 0, max: 100 }, handleAttributes };
      noUiSlider.create(it, options).on("change", (values) => done(values.map(Number).join()));
    },
  ],
  sortable: [list, (it) => Sortable.create(it, { onEnd: order })],
  quill: [
    `<div id="it" style="height:120px"></div><button>Save</button>`,
    (it) => {
      const editor = new Quill(it, { theme: "snow" });
      root.querySelector(":scope > button").onclick = () => done(editor.getText().trim());
    },
  ],
  leaflet: [
    `<div id="it" style="width:500px;height:300px"></div>`,
    (it) => {
      const marker = L.marker([51, 0], { alt: "Boat" }).addTo(L.map(it).setView([51, 0], 8));
      marker.bindPopup(`<button onclick="document.title = 'booked'">Book</button>`);
    },
  ],
  "imask phone": [field("Phone"), masked({ mask: "+{7}(000)000-00-00" })],
  "imask number": [field("Price"), masked({ mask: Number, thousandsSeparator: ",", scale: 2, radix: "." })],
  "imask date": [field("Born"), masked({ mask: Date, lazy: false, overwrite: true, autofix: true })],
  "fullcalendar day": [`<div id="it"></div>`, calendar({ dateClick: ({ dateStr }) => done(dateStr) })],
  "fullcalendar event": [
    `<div id="it"></div>`,
    calendar({ events: [{ title: "Meeting", start: "2027-05-12" }], eventClick: ({ event }) => done(event.title) }),
  ],
  "tabulator cell": [
    `<div id="it"></div>`,
    (it) => {
      const columns = [
        { title: "Name", field: "name", editor: "input" },
        { title: "Age", field: "age" },
      ];
      const table = new TabulatorFull(it, { data: [{ id: 1, name: "Ada", age: 3 }], columns });
      table.on("cellEdited", (cell) => done(cell.getValue()));
    },
  ],
  "jquery datepicker": [field("Arrival"), (it) => $(it, "datepicker", { defaultDate: may, onSelect: done })],
  "jquery autocomplete": [
    field("City"),
    (it) => $(it, "autocomplete", { source: ["Lisbon", "London"], select: (event, { item }) => done(item.value) }),
  ],
  "jquery selectmenu": [
    colours(),
    (it) => $(it, "selectmenu", { width: 200, change: (event, { item }) => done(item.value) }),
  ],
  "jquery sortable": [list, (it) => $(it, "sortable", { stop: order })],
  "jquery menu": [
    `<ul id="it" style="width:150px"><li><div>Copy</div></li><li><div>Export</div><ul style="width:150px"><li><div>CSV</div></li></ul></li></ul>`,
    (it) => $(it, "menu", { select: (event, { item }) => done(item.text()) }),
  ],
};

function SortedItem({ id }) {
  const { attributes, listeners, setNodeRef, transform } = useSortable({ id });
  const style = { padding: 8, ...(transform && { transform: `translateY(${transform.y}px)` }) };
  return (
    <li ref={setNodeRef} style={style} {...attributes} {...listeners}>
      {id}
    </li>
  );
}

const react = {
  "day picker": () => <DayPicker mode="single" defaultMonth={may} onSelect={(day) => done(day?.toDateString())} />,
  "react datepicker": () => (
    <DatePicker openToDate={may} placeholderText="Arrival" onChange={(day) => done(day.toDateString())} />
  ),
  "react otp": () => {
    const [code, setCode] = useState("");
    const set = (value) => (setCode(value), done(value));
    return <OtpInput value={code} onChange={set} numInputs={4} renderInput={(props) => <input {...props} />} />;
  },
  "input otp": () => (
    <OTPInput
      maxLength={4}
      onChange={done}
      render={({ slots }) => (
        <div style={{ display: "flex" }}>
          {slots.map(({ char }, place) => (
            <div key={place} style={{ width: 30, height: 30, border: "1px solid" }}>
              {char}
            </div>
          ))}
        </div>
      )}
    />
  ),
  "dnd kit": () => {
    const [sorted, setSorted] = useState(items);
    const drop = ({ active, over }) => {
      const next = arrayMove(sorted, sorted.indexOf(active.id), sorted.indexOf(over?.id));
      setSorted(next);
      done(next.join());
    };
    return (
      <DndContext collisionDetection={closestCenter} onDragEnd={drop}>
        <SortableContext items={sorted} strategy={verticalListSortingStrategy}>
          <ul>
            {sorted.map((id) => (
              <SortedItem key={id} id={id} />
            ))}
          </ul>
        </SortableContext>
      </DndContext>
    );
  },
  "pangea dnd": () => {
    const [sorted, setSorted] = useState(items);
    const drop = ({ destination, source }) => {
      if (!destination) return;
      const next = arrayMove(sorted, source.index, destination.index);
      setSorted(next);
      done(next.join());
    };
    return (
      <DragDropContext onDragEnd={drop}>
        <Droppable droppableId="list">
          {({ droppableProps, innerRef, placeholder }) => (
            <div ref={innerRef} {...droppableProps}>
              {sorted.map((item, index) => (
                <Draggable key={item} draggableId={item} index={index}>
                  {(given) => (
                    <div
                      ref={given.innerRef}
                      {...given.draggableProps}
                      {...given.dragHandleProps}
                      style={{ padding: 10, ...given.draggableProps.style }}
                    >
                      {item}
                    </div>
                  )}
                </Draggable>
              ))}
              {placeholder}
            </div>
          )}
        </Droppable>
      </DragDropContext>
    );
  },
  downshift: () => {
    const [text, setText] = useState("");
    const cities = ["Lisbon", "London"].filter((city) => city.toLowerCase().startsWith(text.toLowerCase()));
    const box = useCombobox({
      items: cities,
      onInputValueChange: ({ inputValue }) => setText(inputValue ?? ""),
      onSelectedItemChange: ({ selectedItem }) => done(selectedItem),
    });
    return (
      <div>
        <label {...box.getLabelProps()}>City</label>
        <input {...box.getInputProps()} />
        <ul {...box.getMenuProps()}>
          {box.isOpen &&
            cities.map((item, index) => (
              <li key={item} {...box.getItemProps({ item, index })}>
                {item}
              </li>
            ))}
        </ul>
      </div>
    );
  },
};

const [html, start] = plain[widgetName] ?? [];
if (html === undefined) show(react);
else {
  root.innerHTML = html;
  start(root.querySelector("#it"));
}
