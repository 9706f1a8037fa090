// The script that draws data flows. Every open group is laid out by itself, in ranks from top to bottom: who hands
// something on stands above who takes it. Lines that come from outside enter a group at one place of its top and leave
// it at one of its bottom, so nothing but its size and these two matters to the group around it.
#pragma once
#include <string_view>

namespace svod {

inline constexpr std::string_view kHtmlFlowScript = R"js(
(() => {
  const kLetter = 7.3, kHigh = 40, kGapX = 18, kGapY = 30, kPad = 12, kHead = 24, kLetters = 30;
  const shortened = t => t.length > kLetters ? t.slice(0, kLetters - 1) + '\u2026' : t;

  // Positions in the given order, as close to `wanted` as `sizes` and gaps let them be (least squares).
  function spread(wanted, sizes, weights) {
    const offsets = [], blocks = [];
    let sum = 0;
    wanted.forEach((w, i) => {
      offsets.push(sum + sizes[i] / 2), sum += sizes[i] + kGapX;
      let block = {mean: w - offsets[i], weight: weights[i], count: 1};
      while (blocks.length && blocks[blocks.length - 1].mean > block.mean) {
        const before = blocks.pop(), weight = before.weight + block.weight;
        block = {mean: (before.mean * before.weight + block.mean * block.weight) / weight, weight,
                 count: before.count + block.count};
      }
      blocks.push(block);
    });
    return blocks.flatMap(b => Array(b.count).fill(b.mean)).map((mean, i) => mean + offsets[i]);
  }

  const median = list => list.length ? (list.sort((a, b) => a - b), list[list.length >> 1]) : null;

  // Boxes {w, h} in the order of time, and lines between them by index; lines to earlier boxes are left out of ranks.
  // Gives boxes x and y, and lines their points.
  function layOut(boxes, lines) {
    const ahead = lines.filter(l => l.from < l.to);
    boxes.forEach(b => b.rank = 0);
    const into = boxes.map(() => []), out = boxes.map(() => []);
    for (const l of ahead) into[l.to].push(l.from), out[l.from].push(l.to);
    boxes.forEach((b, i) => { for (const p of into[i]) b.rank = Math.max(b.rank, boxes[p].rank + 1); });
    for (let i = boxes.length - 1; i >= 0; --i)  // what is needed late stands late
      if (!into[i].length && out[i].length && !boxes[i].isPort)
        boxes[i].rank = Math.max(0, Math.min(...out[i].map(t => boxes[t].rank)) - 1);
    const last = Math.max(...boxes.map(b => b.rank));
    for (const b of boxes) if (b.isPort === 'out') b.rank = Math.max(last, 0);

    // Lines over several ranks go through a small box in each; those of one source share them.
    const items = [...boxes], bends = new Map(), links = [];
    for (const l of ahead) {
      let at = l.from;
      l.through = [];
      for (let rank = boxes[l.from].rank + 1; rank < boxes[l.to].rank; ++rank) {
        const key = l.from + ' ' + rank;
        if (!bends.has(key)) {
          bends.set(key, items.length);
          items.push({w: 6, h: 0, rank, isBend: true});
          links.push([at, items.length - 1]);
        }
        at = bends.get(key);
        l.through.push(items[at]);
      }
      links.push([at, l.to]);
    }
    const above = items.map(() => []), below = items.map(() => []);
    for (const [a, b] of links) above[b].push(a), below[a].push(b);
    const ranks = [];
    items.forEach((item, i) => (ranks[item.rank] ??= []).push(i));
    for (let r = 0; r < ranks.length; ++r) ranks[r] ??= [];

    const number = () => ranks.forEach(rank => rank.forEach((i, at) => items[i].at = at));
    number();
    for (let sweep = 0; sweep < 8; ++sweep) {
      const down = sweep % 2 === 0;
      for (const rank of down ? ranks : [...ranks].reverse()) {
        const key = new Map(rank.map(i => [i, median((down ? above : below)[i].map(n => items[n].at)) ?? items[i].at]));
        rank.sort((a, b) => key.get(a) - key.get(b) || items[a].at - items[b].at);
        rank.forEach((i, at) => items[i].at = at);
      }
    }
    ranks.forEach(rank => {
      let x = 0;
      for (const i of rank) items[i].x = x + items[i].w / 2, x += items[i].w + kGapX;
    });
    for (let sweep = 0; sweep < 12; ++sweep) {
      const down = sweep % 2 === 0;
      for (const rank of down ? ranks : [...ranks].reverse()) {
        const near = i => sweep > 7 ? [...above[i], ...below[i]] : (down ? above : below)[i];
        const wanted = rank.map(i => {
          const xs = near(i).map(n => items[n].x);
          return xs.length ? xs.reduce((a, b) => a + b) / xs.length : items[i].x;
        });
        const weights = rank.map(i => items[i].isBend ? 4 : near(i).length ? 1 : 0.05);
        spread(wanted, rank.map(i => items[i].w), weights).forEach((x, at) => items[rank[at]].x = x);
      }
    }
    let y = 0;
    for (const rank of ranks) {
      const high = Math.max(0, ...rank.map(i => items[i].h));
      for (const i of rank) items[i].y = y, items[i].rankHigh = high;
      y += high + (high > 0 ? kGapY : kGapY / 2);
    }
    const left = Math.min(...items.map(i => i.x - i.w / 2)), right = Math.max(...items.map(i => i.x + i.w / 2));
    for (const item of items) item.x -= left;
    return {w: right - left, h: Math.max(...items.map(i => i.y + i.h))};
  }

  class Drawing {
    constructor(figure) {
      Object.assign(this, JSON.parse(figure.querySelector('script').textContent));
      this.figure = figure, this.view = figure.querySelector('.view'), this.svg = figure.querySelector('svg');
      this.scale = 1;
      this.children = [{nodes: [], groups: []}, ...this.groups.map(() => ({nodes: [], groups: []}))];
      this.nodes.forEach((n, i) => this.children[n.group + 1].nodes.push(i));
      this.groups.forEach((g, i) => this.children[g.parent + 1].groups.push(i));
      this.sum();
      this.linesOf = this.localLines();
      const tools = figure.querySelector('.tools');
      tools.hidden = false;
      const both = tools.querySelectorAll('[data-do=open],[data-do=close]');
      if (!this.groups.length) for (const button of both) button.hidden = true;
      tools.addEventListener('click', e => this.tool(e.target.dataset.do));
      this.svg.addEventListener('click', e => this.toggle(e.target.closest('[data-group]')));
      this.svg.addEventListener('keydown', e => {
        const group = e.target.closest('[data-group]');
        if (group && group === e.target && (e.key === 'Enter' || e.key === ' ')) e.preventDefault(), this.toggle(group);
      });
      for (const [on, off] of [['mouseover', 'mouseout'], ['focusin', 'focusout']]) {
        this.svg.addEventListener(on, e => this.light(e.target.closest('[data-key]'), true));
        this.svg.addEventListener(off, e => this.light(e.target.closest('[data-key]'), false));
      }
      this.draw();
      const room = this.view.clientWidth / this.width;
      if (room < 1) this.zoom(Math.max(room, 0.6));
    }

    // First step, number and share of the kernels of each group.
    sum() {
      for (const g of this.groups) Object.assign(g, {first: Infinity, kernels: 0, share: 0});
      this.nodes.forEach((n, i) => {
        for (let g = n.group; g >= 0; g = this.groups[g].parent) {
          const group = this.groups[g];
          group.first = Math.min(group.first, i), group.share += n.share, group.kernels += n.kind === 'launch';
        }
      });
    }

    // For every group what is between its children, or from and to the outside: 'in' and 'out'.
    localLines() {
      const lines = this.children.map(() => new Map());
      const add = (group, from, to, edge) => {
        const key = from + '>' + to, held = lines[group + 1].get(key);
        const text = edge[2];
        if (held) held.bytes += edge[3], held.count++ < 6 && held.labels.add(text);
        else lines[group + 1].set(key, {from, to, bytes: edge[3], count: 1, labels: new Set([text])});
      };
      const wayUp = node => {
        const way = [['n' + node, this.nodes[node].group]];
        for (let g = this.nodes[node].group; g >= 0; g = this.groups[g].parent)
          way.push(['g' + g, this.groups[g].parent]);
        return way.reverse();
      };
      for (const edge of this.edges) {
        const from = wayUp(edge[0]), to = wayUp(edge[1]);
        let shared = 0;
        while (from[shared][0] === to[shared]?.[0]) ++shared;
        add(from[shared][1], from[shared][0], to[shared][0], edge);
        for (const [child, group] of from.slice(shared + 1)) add(group, child, 'out', edge);
        for (const [child, group] of to.slice(shared + 1)) add(group, 'in', child, edge);
      }
      return lines;
    }

    build(group) {
      const {nodes, groups} = this.children[group + 1];
      const boxes = [...nodes.map(i => this.nodeBox(i)), ...groups.map(i => this.groupBox(i))];
      boxes.sort((a, b) => a.first - b.first);
      const held = [...this.linesOf[group + 1].values()];
      if (held.some(l => l.from === 'in')) boxes.unshift({key: 'in', w: 0, h: 0, isPort: 'in'});
      if (held.some(l => l.to === 'out')) boxes.push({key: 'out', w: 0, h: 0, isPort: 'out'});
      const index = new Map(boxes.map((b, i) => [b.key, i]));
      const lines = held.map(l => ({...l, from: index.get(l.from), to: index.get(l.to), a: l.from, b: l.to}));
      return {boxes, lines, ...layOut(boxes, lines)};
    }

    nodeBox(i) {
      const n = this.nodes[i];
      const letters = Math.max(shortened(n.name).length, shortened(n.detail).length * 0.9);
      return {key: 'n' + i, first: i, w: Math.max(letters * kLetter + 2 * kPad, 60), h: kHigh, node: n};
    }

    groupBox(i) {
      const g = this.groups[i];
      const box = {key: 'g' + i, first: g.first, group: g, id: i};
      const label = shortened(g.name).length + 2, detail = this.detailOf(g);
      if (!g.open) return {...box, w: Math.max(label, detail.length * 0.9) * kLetter + 2 * kPad, h: kHigh};
      const inner = this.build(i);
      const middle = inner.w / 2, port = kind => inner.boxes.find(b => b.isPort === kind)?.x ?? middle;
      return {...box, inner, w: Math.max(inner.w, label * kLetter) + 2 * kPad, h: inner.h + kHead + kPad,
              inShift: port('in') - middle, outShift: port('out') - middle};
    }

    detailOf(g) {
      const share = g.share > 0 ? ', ' + (100 * g.share).toFixed(0) + ' %' : '';
      return g.kernels === 1 ? '1 launch' + share : g.kernels + ' launches' + share;
    }

    make(name, attributes, parent, text) {
      const element = document.createElementNS(this.svg.namespaceURI, name);
      for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
      if (text !== undefined) element.textContent = text;
      parent.append(element);
      return element;
    }

    draw() {
      this.svg.replaceChildren();
      const built = this.build(-1);
      this.width = built.w + 2 * kPad + 40, this.height = built.h + 2 * kPad;
      this.svg.setAttribute('viewBox', `0 0 ${this.width} ${this.height}`);
      this.paint(built, kPad, kPad, this.svg, 0);
      this.zoom(this.scale);
    }

    zoom(scale) {
      this.scale = Math.min(Math.max(scale, 0.15), 3);
      this.svg.setAttribute('width', this.width * this.scale);
      this.svg.setAttribute('height', this.height * this.scale);
    }

    paint(built, x, y, parent, depth) {
      const lines = this.make('g', {class: 'lines'}, parent);
      for (const line of built.lines) this.line(line, built, x, y, lines);
      for (const box of built.boxes) {
        if (box.isPort) continue;
        const at = {x: x + box.x - box.w / 2, y: y + box.y};
        if (box.node) this.node(box, at, parent);
        else this.group(box, at, parent, depth);
      }
    }

    line(line, built, x, y, parent) {
      const from = built.boxes[line.from], to = built.boxes[line.to];
      const thick = Math.min(1 + Math.max(Math.log2(line.bytes / 4096), 0) / 3.5, 5).toFixed(2);
      let px = x + from.x + (from.outShift ?? 0), py = y + from.y + from.h;
      const end = x + to.x + (to.inShift ?? 0);
      let path = `M${px} ${from.isPort ? y - kHead : py}` + (from.isPort ? `V${py}` : '');
      if (line.from >= line.to) {  // round the right side, back to the top
        const right = x + Math.max(from.x + from.w / 2, to.x + to.w / 2) + 26;
        path += `C${px} ${py + 34} ${right} ${py + 20} ${right} ${(py + y + to.y) / 2}` +
          `S${end} ${y + to.y - 34} ${end} ${y + to.y}`;
      } else {
        const bend = (nx, ny) => {
          const middle = (py + ny) / 2;
          path += `C${px} ${middle} ${nx} ${middle} ${nx} ${ny}`, px = nx, py = ny;
        };
        if (from.h < from.rankHigh) py = y + from.y + from.rankHigh, path += `V${py}`;
        for (const b of line.through) {
          bend(x + b.x, y + b.y);
          if (b.rankHigh > 0) py = y + b.y + b.rankHigh, path += `V${py}`;
        }
        bend(end, y + to.y);
        if (to.isPort) path += `V${y + built.h + kPad}`;
      }
      const kind = line.from >= line.to ? 'line again' : 'line';
      const ends = {'data-a': line.a, 'data-b': line.b};
      const drawn = this.make('path', {class: kind, d: path, 'stroke-width': thick, ...ends}, parent);
      const more = line.count > line.labels.size ? `\nand ${line.count - line.labels.size} more` : '';
      this.make('title', {}, drawn, [...line.labels].join('\n') + more);
    }

    heat(box, at, share, parent) {
      if (share <= 0) return;
      this.make('rect', {class: 'heat', x: at.x, y: at.y, width: box.w, height: box.h, rx: 6,
                         'fill-opacity': Math.min(0.08 + 0.8 * Math.sqrt(share), 0.9).toFixed(3)}, parent);
    }

    words(box, at, name, detail, parent) {
      const middle = at.x + box.w / 2;
      this.make('text', {class: 'title', x: middle, y: at.y + (detail ? 17 : 24)}, parent, name);
      if (detail) this.make('text', {class: 'detail', x: middle, y: at.y + 32}, parent, detail);
    }

    node(box, at, parent) {
      const n = box.node;
      const link = this.make('a', {href: '#' + n.anchor, class: 'node ' + n.kind, 'data-key': box.key,
                                   'aria-label': n.label}, parent);
      this.make('title', {}, link, n.label);
      const round = n.kind === 'launch' ? 6 : n.kind === 'loop' || n.kind === 'copy' || n.kind === 'call' ? 0 : 20;
      this.make('rect', {class: 'box', x: at.x, y: at.y, width: box.w, height: box.h, rx: round}, link);
      this.heat(box, at, n.share, link);
      this.words(box, at, shortened(n.name), shortened(n.detail), link);
    }

    group(box, at, parent, depth) {
      const g = box.group, open = g.open;
      const element = this.make('g', {class: 'group' + (open ? ' open' : ''), 'data-key': box.key}, parent);
      const attributes = {class: 'knob', role: 'button', tabindex: 0, 'data-group': box.id, 'aria-expanded': open,
                          'aria-label': `group ${g.name}, ${this.detailOf(g)}`};
      const frame = {class: 'box d' + depth % 2, x: at.x, y: at.y, width: box.w, height: box.h, rx: 8};
      if (open) this.make('rect', frame, element);
      const knob = this.make('g', attributes, element);
      this.make('title', {}, knob, `${g.name}\n${this.detailOf(g)}`);
      if (open) {
        this.make('rect', {class: 'bar', x: at.x, y: at.y, width: box.w, height: kHead - 4, rx: 8}, knob);
        this.make('text', {class: 'title left', x: at.x + 8, y: at.y + 15}, knob, '\u2212 ' + shortened(g.name));
        const inner = box.inner;
        this.paint(inner, at.x + (box.w - inner.w) / 2, at.y + kHead, element, depth + 1);
        return;
      }
      for (const shift of [4, 0])  // a pile
        this.make('rect', {class: 'box', x: at.x + shift, y: at.y + shift, width: box.w, height: box.h, rx: 6}, knob);
      this.heat(box, at, g.share, knob);
      this.words(box, at, '+ ' + shortened(g.name), this.detailOf(g), knob);
    }

    light(element, on) {
      if (!element) return;
      const key = element.dataset.key, siblings = element.parentNode.querySelectorAll(':scope > .lines > path');
      for (const path of siblings)
        if (path.dataset.a === key || path.dataset.b === key) path.classList.toggle('lit', on);
    }

    toggle(knob) {
      if (!knob) return;
      const id = +knob.dataset.group, before = knob.getBoundingClientRect();
      this.groups[id].open = !this.groups[id].open;
      this.draw();
      const now = this.svg.querySelector(`[data-group="${id}"]`), after = now.getBoundingClientRect();
      this.view.scrollBy(after.left - before.left, after.top - before.top);  // it stays under the pointer
      now.focus({preventScroll: true});
    }

    tool(what) {
      if (what === 'open' || what === 'close') {
        for (const g of this.groups) g.open = what === 'open';
        this.draw();
      }
      if (what === 'larger') this.zoom(this.scale * 1.25);
      if (what === 'smaller') this.zoom(this.scale / 1.25);
    }
  }

  for (const figure of document.querySelectorAll('figure.flow')) new Drawing(figure);
})();
)js";

}  // namespace svod
