// Numbers, times and JSON as text.

export function rate(n) {
  if (!(n > 0)) return '0';
  if (n < 0.05) return '<0.1';
  if (n < 10) return n.toFixed(1);
  return count(Math.round(n));
}

export function count(n) {
  if (n < 10000) return String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, '\u202f');
  if (n < 1e6) return (n / 1e3).toFixed(n < 1e5 ? 1 : 0) + 'k';
  if (n < 1e9) return (n / 1e6).toFixed(n < 1e8 ? 1 : 0) + 'M';
  return (n / 1e9).toFixed(1) + 'G';
}

// span writes microseconds.
export function span(us) {
  if (!(us > 0)) return '–';
  if (us < 1) return us.toFixed(2) + ' µs';
  if (us < 10) return us.toFixed(1) + ' µs';
  if (us < 1000) return us.toFixed(0) + ' µs';
  const ms = us / 1e3;
  if (ms < 1000) return ms.toFixed(ms < 10 ? 2 : ms < 100 ? 1 : 0) + ' ms';
  return (ms / 1e3).toFixed(ms < 1e4 ? 2 : 1) + ' s';
}

export function share(x) {
  const p = 100 * x;
  return (p > 0 && p < 10 ? p.toFixed(1) : p.toFixed(0)) + ' %';
}

// bytes writes a size, whose unit does not go to the next line without its number.
export function bytes(n) {
  if (n < 1000) return n + '\u00a0B';
  return n < 1e6 ? (n / 1e3).toFixed(1) + '\u00a0kB' : (n / 1e6).toFixed(1) + '\u00a0MB';
}

export function clock(ms, fraction) {
  const d = new Date(ms);
  const two = n => String(n).padStart(2, '0');
  return two(d.getHours()) + ':' + two(d.getMinutes()) + ':' + two(d.getSeconds()) + (fraction ? '.' + String(d.getMilliseconds()).padStart(3, '0') : '');
}

// lasting writes seconds as people say them.
export function lasting(seconds) {
  if (seconds < 1) return '<1 s';
  const steps = [[86400, 'd'], [3600, 'h'], [60, 'min'], [1, 's']];
  for (const [i, [unit, name]] of steps.entries()) {
    if (seconds < unit) continue;
    const whole = Math.floor(seconds / unit), next = steps[i + 1];
    const rest = next ? Math.floor((seconds - whole * unit) / next[0]) : 0;
    return whole + ' ' + name + (rest && whole < 10 ? ' ' + rest + ' ' + next[1] : '');
  }
}

export const plural = (n, one, many) => count(n) + ' ' + (n === 1 ? one : many || one + 's');

const token = /"(?:\\.|[^"\\])*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|[{}[\],:]/g;

// json lays a JSON text out as coloured elements. It goes by the text, since a parsed number would lose its digits past 2^53.
export function json(text, limit = 20000) {
  const out = document.createElement('pre');
  out.className = 'json';
  out.tabIndex = 0;
  const tokens = text.slice(0, limit).match(token) || [];
  let depth = 0, line = '';
  const add = (kind, t) => {
    if (line) { out.append(line); line = ''; }
    const e = document.createElement('span');
    e.className = kind;
    e.textContent = t;
    out.append(e);
  };
  const pad = () => '\n' + '  '.repeat(Math.min(depth, 40));
  tokens.forEach((t, i) => {
    const next = tokens[i + 1];
    if (t === '{' || t === '[') {
      line += t;
      if (next === '}' || next === ']') return;
      depth++;
      line += pad();
    } else if (t === '}' || t === ']') {
      const before = tokens[i - 1];
      if (before !== '{' && before !== '[') { depth = Math.max(0, depth - 1); line += pad(); }
      line += t;
    } else if (t === ',') line += ',' + pad();
    else if (t === ':') line += ': ';
    else if (t[0] === '"') add(next === ':' ? 'k' : 's', t);
    else add(t === 'true' || t === 'false' || t === 'null' ? 'b' : 'n', t);
  });
  if (line) out.append(line);
  if (!tokens.length) out.textContent = text;
  if (text.length > limit) out.append('\n… ' + bytes(text.length) + ' in all');
  return out;
}

// matches is a filter as people type it: all words have to be there somewhere.
export function matches(filter, ...texts) {
  const all = texts.join(' ').toLowerCase();
  return filter.toLowerCase().split(/\s+/).every(word => all.includes(word));
}
