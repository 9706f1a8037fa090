// The choice of what runs a network: a form with an entry for each, which shows times, or why it cannot be.

/** " on NAME", where a device says what it is. */
export function adapterOf(device) {
  const { vendor, architecture, description } = device.adapterInfo ?? {}, name = description || [vendor, architecture].filter(Boolean).join(" ");
  return name ? ` on ${name}` : "";
}

export class Switch {
  /** `kinds`: { name: [title, what it is, function that loads it] }. */
  constructor(element, kinds) {
    this.models = {}, this.times = {}, this.outputs = {};
    this.element = element;
    element.replaceChildren(...Object.entries(kinds).map(([name, [title, what]]) => {
      const label = document.createElement("label"), input = document.createElement("input");
      label.className = "card";
      Object.assign(input, { type: "radio", name: "kind", value: name, disabled: true });
      label.append(input, ...["b", "span", "output"].map((tag) => document.createElement(tag)));
      label.children[1].textContent = title, label.children[2].textContent = what;
      this.outputs[name] = label.children[3], this.outputs[name].textContent = "…";
      return label;
    }));
  }

  /** Loads them one after the other; those that fail say so and cannot be chosen. A model may say where it runs. */
  async load(kinds) {
    for (const [name, [, , load]] of Object.entries(kinds)) {
      try {
        this.models[name] = await load();
        this.input(name).disabled = false;
        this.outputs[name].previousSibling.textContent += this.models[name].where ?? "";
        if (!this.name) this.input(name).checked = true;
      } catch (error) {
        this.outputs[name].className = "failed", this.outputs[name].textContent = error.message;
      }
    }
  }

  input(name) {
    return this.element.querySelector(`input[value=${name}]`);
  }

  get name() {
    return this.element.querySelector("input:checked")?.value;
  }

  get model() {
    return this.models[this.name];
  }

  /** Runs something with a model, whose time counts. */
  async timed(name, run) {
    const start = performance.now(), result = await run(this.models[name]);
    (this.times[name] ??= []).push(performance.now() - start);
    return result;
  }

  /** The mean of the last times but the slowest tenth, as a number and a unit: clocks of pages are coarse. */
  show(name, what) {
    const times = this.times[name].slice(-100).sort((a, b) => a - b), usual = times.slice(0, Math.ceil(times.length * 0.9));
    const mean = usual.reduce((a, b) => a + b) / usual.length;
    const note = document.createElement("small");
    note.textContent = ` ${what}`;
    this.outputs[name].replaceChildren(mean < 1 ? `${(1000 * mean).toFixed(0)} µs` : `${mean.toPrecision(3)} ms`, note);
    this.outputs[name].dataset.milliseconds = mean;
  }
}
