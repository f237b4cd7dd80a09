//! A relay in front of a NameNode that loses the answer of a call: the call is carried out, and its caller never hears of it.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// Bytes in front of the first frame of a connection.
const PREAMBLE: usize = 7;
/// A method's name is within so many bytes of the beginning of a request, whatever its arguments are.
const HEADERS: usize = 400;

/// A relay that listens on loopback until the program ends.
pub struct Relay {
    address: SocketAddr,
    /// The method whose next answer is lost.
    armed: Arc<Mutex<Option<String>>>,
}

impl Relay {
    /// Passes connections on to `server` (`host:port`).
    pub fn start(server: &str) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let armed = Arc::<Mutex<Option<String>>>::default();
        let (server, methods) = (server.to_owned(), Arc::clone(&armed));
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let (server, methods) = (server.clone(), Arc::clone(&methods));
                // A connection that cannot be passed on is closed.
                thread::spawn(move || TcpStream::connect(server).map(|s| pass(client, s, methods)));
            }
        });
        Ok(Self { address, armed })
    }

    /// Where it listens.
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// Loses the answer of the next call of a method, and ends the connection on which it came.
    pub fn lose(&self, method: &str) {
        *self.armed.lock().unwrap_or_else(PoisonError::into_inner) = Some(method.to_owned());
    }

    /// Whether the answer was lost.
    pub fn has_lost(&self) -> bool {
        self.armed.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }
}

fn pass(client: TcpStream, server: TcpStream, armed: Arc<Mutex<Option<String>>>) {
    let loses = Arc::new(AtomicBool::new(false));
    if let (Ok(to_client), Ok(from_server)) = (client.try_clone(), server.try_clone()) {
        let is_lost = Arc::clone(&loses);
        thread::spawn(move || answers(from_server, to_client, &is_lost));
    }
    _ = requests(&client, &server, &loses, &armed);
    _ = server.shutdown(Shutdown::Both);
    _ = client.shutdown(Shutdown::Both);
}

/// Passes requests on, frame by frame.
fn requests(
    mut client: &TcpStream,
    mut server: &TcpStream,
    loses: &AtomicBool,
    armed: &Mutex<Option<String>>,
) -> io::Result<()> {
    let mut preamble = [0; PREAMBLE];
    client.read_exact(&mut preamble)?;
    server.write_all(&preamble)?;
    loop {
        let mut prefix = [0; 4];
        client.read_exact(&mut prefix)?;
        let mut frame = vec![0; u32::from_be_bytes(prefix) as usize];
        client.read_exact(&mut frame)?;
        let mut armed = armed.lock().unwrap_or_else(PoisonError::into_inner);
        if armed.as_ref().is_some_and(|method| is_call(&frame, method)) {
            *armed = None;
            loses.store(true, Ordering::SeqCst);
        }
        drop(armed);
        server.write_all(&prefix)?;
        server.write_all(&frame)?;
    }
}

/// Whether a request names the method: the first field of its second header.
fn is_call(frame: &[u8], method: &str) -> bool {
    let mut field = vec![0x0a, method.len() as u8];
    field.extend_from_slice(method.as_bytes());
    let head = &frame[..frame.len().min(HEADERS)];
    head.windows(field.len()).any(|window| window == field)
}

/// Passes answers on, until one is to be lost.
fn answers(mut server: TcpStream, mut client: TcpStream, loses: &AtomicBool) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(len @ 1..) = server.read(&mut buffer) {
        if loses.load(Ordering::SeqCst) || client.write_all(&buffer[..len]).is_err() {
            break;
        }
    }
    _ = client.shutdown(Shutdown::Both);
    _ = server.shutdown(Shutdown::Both);
}
