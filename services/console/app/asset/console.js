// Keeps a page current: the server says that the page has changed, and the script reads the page
// again and replaces the parts with data-live that differ. A part in which somebody writes stays.
'use strict';
(() => {
  const main = document.getElementById('main');
  const stream = document.getElementById('stream');
  if (!main || !stream || !window.EventSource || !main.dataset.seq) return;
  let source, busy = false, again = false, paused = false;

  const toggle = document.createElement('button');
  toggle.type = 'button';
  toggle.className = 'quiet';
  const say = (text, live) => {
    stream.textContent = text + ' ';
    stream.classList.toggle('live', live);
    toggle.textContent = paused ? 'Go live' : 'Hold';
    stream.append(toggle);
  };
  toggle.addEventListener('click', () => {
    paused = !paused;
    if (paused) { shut(); say('held', false); } else open();
  });


  const writes = (part) => {
    for (const field of part.querySelectorAll('textarea, input:not([type=hidden])')) {
      if (field.value !== field.defaultValue || field === document.activeElement) return true;
    }
    return false;
  };

  const swap = (old, now) => {
    const focus = document.activeElement && old.contains(document.activeElement) ? document.activeElement.id || document.activeElement.getAttribute('href') : '';
    const opened = new Set([...old.querySelectorAll('details[id]')].filter((d) => d.open).map((d) => d.id));
    const [left, top] = [old.scrollLeft, old.scrollTop];
    for (const d of now.querySelectorAll('details[id]')) if (opened.has(d.id)) d.open = true;
    old.replaceWith(now);
    now.scrollLeft = left;
    now.scrollTop = top;
    if (focus) {
      const next = document.getElementById(focus) || [...now.querySelectorAll('a')].find((a) => a.getAttribute('href') === focus);
      if (next) next.focus({ preventScroll: true });
    }
  };

  // The newest line of the output stays in sight, unless somebody has scrolled up.
  const output = (data) => {
    const part = document.getElementById('live'), text = document.getElementById('live-text'), now = JSON.parse(data);
    if (!part || part.dataset.live !== String(now.token)) { // of an agent that began after the page was read
      if (!location.search.includes('seq=')) refresh();
      return;
    }
    const follows = text.scrollHeight - text.scrollTop - text.clientHeight < 40;
    text.textContent = now.text;
    document.getElementById('live-cut').hidden = !now.cut;
    if (follows) text.scrollTop = text.scrollHeight;
  };

  const refresh = async () => {
    if (busy) { again = true; return; }
    busy = true;
    try {
      const reply = await fetch(location.href, { headers: { Accept: 'text/html' } });
      if (reply.status === 401) { location.reload(); return; }
      if (!reply.ok) return;
      const page = new DOMParser().parseFromString(await reply.text(), 'text/html');
      const fresh = page.getElementById('main');
      if (!fresh) return;
      const waited = document.title;
      document.title = page.title;
      main.dataset.seq = fresh.dataset.seq;
      let last = null, before = null; // the part before this one, here and in the fresh page
      for (const now of page.querySelectorAll('[data-live]')) {
        const old = document.getElementById(now.id);
        const copy = document.importNode(now, true);
        if (!old && last && before.parentNode === now.parentNode) { last.after(copy); last = copy; }
        else if (old && (old.isEqualNode(now) || writes(old) || now.dataset.live && now.dataset.live === old.dataset.live)) last = old;
        else if (old) { swap(old, copy); last = copy; }
        else continue;
        before = now;
      }
      for (const old of main.querySelectorAll('[data-live]')) if (!page.getElementById(old.id) && !writes(old)) old.remove();
      const stale = page.getElementById('stale'), shown = document.getElementById('stale');
      if (stale && !shown) main.prepend(document.importNode(stale, true));
      if (!stale && shown) shown.remove();
      if (page.title !== waited) document.getElementById('news').textContent = page.title;
      say('live, ' + new Date().toLocaleTimeString(), true);
    } catch { say('not connected', false); } finally {
      busy = false;
      if (again) { again = false; refresh(); }
    }
  };

  // The slider shows the page of another commit, and its address.
  const slider = document.getElementById('seq');
  slider?.addEventListener('input', () => {
    const to = new URL(location.href);
    to.search = slider.value === slider.max ? '' : '?seq=' + slider.value;
    to.hash = '';
    history.replaceState(null, '', to);
    refresh();
  });

  const shut = () => { if (source) source.close(); source = undefined; };
  const open = () => {
    shut();
    if (paused || document.hidden) return;
    source = new EventSource('/events?seq=' + main.dataset.seq + '&i=' + encodeURIComponent(main.dataset.watch));
    source.onopen = () => say('live', true);
    source.onmessage = refresh;
    source.addEventListener('live', (e) => output(e.data));
    source.onerror = () => {
      say('not connected, as of ' + new Date().toLocaleTimeString(), false);
      if (source && source.readyState === EventSource.CLOSED) { shut(); setTimeout(() => { refresh(); open(); }, 3000); } // refused: has the session ended?
    };
  };
  document.addEventListener('visibilitychange', () => { if (document.hidden) shut(); else open(); });
  window.addEventListener('beforeunload', shut);
  // A stream that is opened while the page loads is a part of the loading, which then never ends.
  if (document.readyState === 'complete') open();
  else window.addEventListener('load', () => setTimeout(open, 0));

  // Single keys act where nobody types, and not with another key held down.
  const keys = document.getElementById('keys'), places = { b: '/', i: '/inbox', l: '/lifecycles', a: '/agents', c: '/costs', h: '/health' };
  let went = false;
  const step = (by) => {
    const links = [...main.querySelectorAll('.board th a, article h2 a, .agents th a, .states th a')];
    const at = links.indexOf(document.activeElement);
    const next = links[Math.max(0, Math.min(links.length - 1, at < 0 ? 0 : at + by))];
    if (next) next.focus();
  };
  document.addEventListener('keydown', (e) => {
    if (e.ctrlKey || e.altKey || e.metaKey || e.target.closest?.('input, textarea, select')) return;
    const go = went && places[e.key];
    went = e.key === 'g';
    if (go) { location.assign(go); return; }
    if (e.key === 'j') step(1);
    else if (e.key === 'k') step(-1);
    else if (e.key === '?' && keys) keys.showModal();
    else if (e.key === '/' && document.getElementById('q')) { e.preventDefault(); document.getElementById('q').focus(); }
  });
})();
